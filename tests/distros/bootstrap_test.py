"""scripts/bootstrap on releases that it knows and on others: which packages it asks for, and that it touches nothing where it knows no names.

A dpkg-query that knows no package and an apt-get that writes down its arguments stand in for the system's, so nothing is installed.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/bootstrap"


class Bootstrap(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.calls = self.folder / "calls"
        self.calls.touch()
        for name, does in {"dpkg-query": "exit 1", "sudo": 'exec "$@"', "apt-get": f'echo "$@" >> {self.calls}',
                           "dpkg": f'echo dpkg "$@" >> {self.calls}'}.items():
            (self.folder / name).write_text(f"#!/bin/sh\n{does}\n")
            (self.folder / name).chmod(0o755)
        # A tree of its own: whether this one is configured says nothing here.
        (self.folder / "tree/scripts").mkdir(parents=True)
        for script in ("bootstrap", "progress"):
            (self.folder / "tree/scripts" / script).write_bytes((SCRIPT.parent / script).read_bytes())

    def run_on(self, os_release, *arguments):
        (self.folder / "os-release").write_text(os_release)
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "BINNACLE_OS_RELEASE": str(self.folder / "os-release")}
        said = subprocess.run(["sh", self.folder / "tree/scripts/bootstrap", *arguments], env=environment, capture_output=True, text=True, timeout=60)
        return said, self.calls.read_text().split()

    def test_debian_12_gets_boost_1_81_by_its_version_for_its_default_is_older(self):
        said, asked = self.run_on('ID=debian\nVERSION_ID="12"\n', "--check")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertLessEqual({"libboost1.81-dev", "libboost-url1.81-dev", "clang-14", "clang-format-14", "clang-tidy-19", "libcapnp-dev"}, set(asked))
        self.assertNotIn("libboost-dev", asked)

    def test_debian_13_gets_its_default_boost_and_clang_19(self):
        said, asked = self.run_on('ID=debian\nVERSION_ID="13"\n', "--check")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertLessEqual({"libboost-dev", "libboost-json-dev", "libboost-url-dev", "clang-19", "clang-tidy-19"}, set(asked))
        self.assertFalse([name for name in asked if "1.81" in name or name.endswith("-14")])

    def test_ubuntu_24_04_is_installed_for_and_said_to_be_untried(self):
        said, asked = self.run_on('ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n')
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn("nobody has tried Binnacle on Ubuntu 24.04.1 LTS yet", said.stderr)
        self.assertIn("libboost-url-dev", asked)

    def test_ubuntu_has_no_browser_for_the_tests_and_gets_nothing_but_a_way_to_run_them(self):
        said, asked = self.run_on('ID=ubuntu\nVERSION_ID="24.04"\n', "--browser")
        self.assertEqual((said.returncode, asked), (1, []), said.stderr)
        self.assertIn("scripts/in-debian 13 scripts/test --browser", said.stderr)

    def test_another_release_is_told_what_is_needed_and_nothing_is_installed(self):
        for text, name in {'ID=fedora\nVERSION_ID=43\nPRETTY_NAME="Fedora Linux 43"\n': "Fedora Linux 43", "ID=debian\n": "this system", "": "this system"}.items():
            said, asked = self.run_on(text)
            self.assertEqual((said.returncode, asked), (1, []), said.stderr)
            self.assertIn(f"the packages of {name} are unknown here", said.stderr)
            for needed in ("g++ 12", "Boost 1.81", "Cap'n Proto 0.9.2", "OpenSSL 3", "yaml-cpp", "libpowercap", "libpfm4", "doctest"):
                self.assertIn(needed, said.stderr)

    def test_another_release_where_the_build_is_configured_has_what_it_needs(self):
        (self.folder / "tree/build").mkdir()
        (self.folder / "tree/build/build.ninja").touch()
        said, asked = self.run_on("ID=arch\n")
        self.assertEqual((said.returncode, asked, said.stderr), (0, [], ""))

    def test_another_release_with_a_configured_build_still_lacks_what_more_is_asked_for(self):
        (self.folder / "tree/build").mkdir()
        (self.folder / "tree/build/build.ninja").touch()
        said, asked = self.run_on("ID=arch\n", "--check")
        self.assertEqual((said.returncode, asked), (1, []), said.stderr)
        self.assertIn("are unknown here", said.stderr)

    def test_an_os_release_that_a_shell_cannot_read_is_one_that_is_unknown(self):
        for text in ("ID=odd\nPRETTY_NAME=My Odd OS\n", 'ID=odd\nVERSION="$UNSET"\nPRETTY_NAME="My Odd OS"\n', "ID=odd\nNAME='it\nPRETTY_NAME=\"My Odd OS\"\r\n"):
            said, asked = self.run_on(text)
            self.assertEqual((said.returncode, asked), (1, []), said.stderr)
            self.assertTrue(said.stderr.startswith("bootstrap: the packages of My Odd OS are unknown here"), said.stderr)

    def test_help_names_every_form_and_installs_nothing(self):
        said, asked = self.run_on("ID=debian\n", "--help")
        self.assertEqual((said.returncode, asked, said.stderr), (0, [], ""))
        for form in ("--check", "--browser", "--prometheus", "--arm64"):
            self.assertIn(form, said.stdout)

    def test_the_cross_build_takes_the_libraries_of_arm64_and_removes_nothing(self):
        said, asked = self.run_on('ID=debian\nVERSION_ID="13"\n', "--arm64")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertLessEqual({"g++-aarch64-linux-gnu", "qemu-user", "libboost-url-dev:arm64", "libfreeipmi-dev:arm64", "capnproto", "--no-remove"}, set(asked))
        self.assertFalse({"libssl-dev", "g++"} & set(asked))

    def test_a_cross_build_that_fails_leaves_no_new_architecture_behind(self):
        fails = f'#!/bin/sh\necho "$@" >> {self.calls}\n[ "$1" = update ]\n'
        (self.folder / "apt-get").write_text(fails)
        said, asked = self.run_on('ID=debian\nVERSION_ID="13"\n', "--arm64")
        self.assertNotEqual(said.returncode, 0)
        self.assertLess(asked.index("--add-architecture"), asked.index("--remove-architecture"))
        # One that the machine knew before stays.
        (self.folder / "dpkg").write_text(f'#!/bin/sh\necho dpkg "$@" >> {self.calls}\n[ "$1" != --print-foreign-architectures ] || echo arm64\n')
        self.calls.write_text("")
        said, asked = self.run_on('ID=debian\nVERSION_ID="13"\n', "--arm64")
        self.assertNotEqual(said.returncode, 0)
        self.assertNotIn("--remove-architecture", asked)

    def test_a_wrong_option_is_refused_before_anything_happens(self):
        said, asked = self.run_on('ID=debian\nVERSION_ID="13"\n', "--all")
        self.assertEqual((said.returncode, asked), (2, []))


if __name__ == "__main__":
    unittest.main(verbosity=2)
