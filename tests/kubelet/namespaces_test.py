"""What namespaces.py says of a machine that cannot run nodes, and how it shares version 2 of cgroups. Runs everywhere, with the other unit tests: the
sentences by a folder that looks like a machine's cgroups, the rest by real cgroups below one of the test's own, where root may make one.
"""

import errno
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import namespaces  # noqa: E402  (the path comes first)

REAL = next((path for path in (namespaces.CGROUPS, namespaces.CGROUPS / "unified") if (path / "cgroup.controllers").exists()), None)


class Sentences(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        patched = mock.patch.object(namespaces, "CGROUPS", self.root)
        patched.start()
        self.addCleanup(patched.stop)

    def version_2(self, has, passes_on):
        (self.root / "cgroup.controllers").write_text(f"{has}\n")
        (self.root / "cgroup.subtree_control").write_text(f"{passes_on}\n")
        (self.root / "cgroup.procs").write_text("")

    def version_1(self, *groups):
        for group in groups:
            (self.root / group).mkdir()
            (self.root / group / "cgroup.procs").write_text("")

    def test_controllers_that_the_machine_does_not_have_are_named(self):
        self.version_2("cpu io pids", "cpu io pids")
        self.assertEqual(namespaces.missing_cgroups(), f"real nodes take the cgroup controllers cpuset, memory at {self.root}, which has cpu, io, pids")

    def test_a_machine_without_cgroups_has_none(self):
        self.assertEqual(namespaces.missing_cgroups(), f"real nodes take the cgroup controllers cpu, cpuset, memory, pids at {self.root}, which has none")

    def test_version_1_also_where_one_folder_has_two_controllers(self):
        self.version_1("cpu,cpuacct", "cpuset", "memory", "pids", "systemd")
        self.assertIsNone(namespaces.missing_cgroups())

    def test_version_2_that_passes_all_on(self):
        self.version_2("cpu cpuset io memory pids", "cpu cpuset io memory pids")
        self.assertIsNone(namespaces.missing_cgroups())

    # It was skipped wherever cgroup.subtree_control was empty.
    def test_version_2_that_passes_nothing_on_yet_is_no_reason_to_skip(self):
        self.version_2("cpu cpuset io memory pids", "")
        self.assertIsNone(namespaces.missing_cgroups())

    def test_controllers_that_cannot_be_passed_on(self):
        self.version_2("cpu cpuset io memory pids", "")
        with mock.patch.object(namespaces, "pass_on", side_effect=OSError(errno.EBUSY, "Device or resource busy")):
            self.assertEqual(namespaces.missing_cgroups(), f"real nodes take {self.root} to pass the controllers cpu, cpuset, memory, pids on to groups below it: "
                                                           "[Errno 16] Device or resource busy")

    def test_somebody_who_is_not_root(self):
        with mock.patch.object(os, "geteuid", return_value=1000):
            self.assertRegex(namespaces.missing(), "^real nodes take root: ")

    def test_programs_that_are_not_installed_are_named(self):
        with mock.patch.object(os, "geteuid", return_value=0), mock.patch.object(namespaces.shutil, "which", return_value=None):
            self.assertEqual(namespaces.missing(), f"real nodes take {', '.join(namespaces.COMMANDS)}, which this machine does not have")


class Version2(unittest.TestCase):
    """In a group that has processes, as the first one of a container has."""

    def setUp(self):
        # A made-up /sys (tests/machines) shows version 2, but its groups are folders like any others.
        if os.geteuid() != 0 or REAL is None or not (REAL / "cgroup.subtree_control").exists():
            self.skipTest("takes root and version 2 of cgroups")
        controllers = (REAL / "cgroup.controllers").read_text().split()
        passed_on = (REAL / "cgroup.subtree_control").read_text().split()
        chosen = next((name for name in passed_on or controllers if name in ("hugetlb", "memory", "io", "misc")), None)
        if chosen is None:
            self.skipTest(f"{REAL} has no controller to try")
        self.group = REAL / f"binnacle-test-{os.getpid()}"
        try:
            if not passed_on:
                (REAL / "cgroup.subtree_control").write_text(f"+{chosen}")
                self.addCleanup((REAL / "cgroup.subtree_control").write_text, f"-{chosen}")
            self.group.mkdir()
            self.addCleanup(namespaces.remove_cgroups, self.group.name)
        except OSError as error:
            self.skipTest(f"{REAL} takes no group: {error}")
        for name, value in (("CGROUPS", self.group), ("CONTROLLERS", {chosen})):
            patched = mock.patch.object(namespaces, name, value)
            patched.start()
            self.addCleanup(patched.stop)
        self.chosen = chosen

    def sleeper(self, command):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        return process

    def processes(self, group):
        return (group / "cgroup.procs").read_text().split()

    def test_processes_wait_beside_while_controllers_are_passed_on_and_come_back(self):
        process = self.sleeper(["sleep", "60"])
        (self.group / "cgroup.procs").write_text(str(process.pid))
        self.assertEqual(namespaces.pass_on(), [self.chosen])
        self.assertEqual(self.processes(self.group / namespaces.REST), [str(process.pid)])
        (self.group / "lab").mkdir()
        self.assertIn(self.chosen, (self.group / "lab/cgroup.controllers").read_text().split())
        (self.group / "lab").rmdir()
        namespaces.take_back([self.chosen])
        self.assertEqual(self.processes(self.group), [str(process.pid)])
        self.assertEqual((self.group / "cgroup.subtree_control").read_text().split(), [])
        self.assertFalse((self.group / namespaces.REST).exists())

    def test_what_a_killed_lab_left_is_taken_back(self):
        process = self.sleeper(["sleep", "60"])
        (self.group / "cgroup.procs").write_text(str(process.pid))
        namespaces.pass_on()
        namespaces.sweep()
        self.assertEqual(self.processes(self.group), [str(process.pid)])
        self.assertEqual((self.group / "cgroup.subtree_control").read_text().split(), [])

    # As nodes.py starts node.sh. The unshare that waits outside stayed in the node's group, which then refused.
    def test_a_node_passes_its_controllers_on_from_within(self):
        if subprocess.run(["unshare", "--mount", "--pid", "--cgroup", "--fork", "--mount-proc", "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("takes namespaces")
        namespaces.pass_on()
        node = self.group / "node"
        node.mkdir()
        within = 'mkdir "$1/own" && echo 0 > "$1/own/cgroup.procs" && echo "+$2" > "$1/cgroup.subtree_control" && echo "done" && exec sleep 60'
        process = self.sleeper(["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "--", "sh", "-c",
                                'echo 0 > "$1/cgroup.procs" && exec unshare --cgroup -- sh -c "$0" sh "$@"', within, str(node), self.chosen])
        self.assertEqual(process.stdout.readline(), "done\n")
        self.assertEqual((node / "cgroup.subtree_control").read_text().split(), [self.chosen])
        process.kill()
        process.wait()
        namespaces.remove_cgroups("node")
        self.assertFalse(node.exists())
        namespaces.take_back([self.chosen])


if __name__ == "__main__":
    unittest.main()
