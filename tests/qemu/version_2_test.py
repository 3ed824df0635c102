"""in_guest.py, and by it what takes a machine whose cgroups are all of version 2. Run by scripts/gates/qemu."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def in_guest(*words, **environment):
    """(status, output)"""
    done = subprocess.run([sys.executable, HERE / "in_guest.py", *map(str, words)], cwd=ROOT, env=dict(os.environ, **environment), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


class Guest(unittest.TestCase):
    def test_without_its_parts_it_says_where_they_come_from(self):
        with tempfile.TemporaryDirectory() as empty:
            status, said = in_guest("--suite", "trixie", "true", XDG_CACHE_HOME=empty)
        self.assertEqual((status, said.splitlines()),
                         (125, ["in_guest: a guest takes the kernel of trixie: python3 tests/qemu/parts.py trixie fetches what is missing"]))

    def test_a_start_that_takes_too_long(self):
        status, said = in_guest("--seconds", 1, "true")
        self.assertEqual(status, 125)
        self.assertIn("in_guest: the guest's start was not done after 1 s (--seconds)", said)

    def test_a_command_in_its_folder_with_its_environment_on_this_machine_s_files(self):
        with tempfile.NamedTemporaryFile(dir=ROOT / "build") as file:
            os.chmod(file.name, 0o644)
            file.write(b"this machine's\n")
            file.flush()
            status, said = in_guest("sh", "-c", 'cat "$0" && echo changed > "$0" && cat "$0" && pwd && echo "$BINNACLE_WORD" && ls /sys/fs/cgroup && exit 7', file.name,
                                    BINNACLE_WORD="a 'word'")
            self.assertEqual(status, 7, said)
            self.assertEqual(said.splitlines()[:4], ["this machine's", "changed", str(ROOT), "a 'word'"])
            self.assertIn("cgroup.controllers", said)
            self.assertEqual(pathlib.Path(file.name).read_text(), "this machine's\n")


class Cgroups:
    """Of each kernel."""

    def test_controllers_are_passed_on_as_tests_kubelet_does(self):
        status, said = in_guest("--suite", self.suite, sys.executable, "tests/kubelet/namespaces_test.py")
        self.assertEqual(status, 0, said)
        # Elsewhere a machine with version 1 skips some.
        self.assertRegex(said, re.compile(r"^OK$", re.MULTILINE))

    def test_a_kubelet_runs_the_chart_s_agent(self):
        # An emulated processor takes some ten times as long as a real one.
        status, said = in_guest("--suite", self.suite, "--seconds", 1800, sys.executable, "tests/kubelet/alone_test.py", "-v", BINNACLE_PATIENCE="15")
        self.assertEqual(status, 0, said)
        self.assertIn("cgroups of version 2: /sys/fs/cgroup/kubepods/burstable/pod", said)
        self.assertRegex(said, re.compile(r"^OK$", re.MULTILINE))


class Debian12(Cgroups, unittest.TestCase):
    suite = "bookworm"


class Debian13(Cgroups, unittest.TestCase):
    suite = "trixie"


if __name__ == "__main__":
    unittest.main(verbosity=2)
