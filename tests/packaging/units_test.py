"""What systemd itself says about our units: that they are right, and how much they leave open.

Run by meson (suite component), or by hand: python3 tests/packaging/units_test.py --build build [TestName]
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build"
PROGRAMS = {"agent": "agent/binnacle-agent", "aggregator": "aggregator/binnacle-aggregator"}


def units():
    """Each unit's name and program. Without FreeIPMI there is no helper."""
    helper = {"ipmi": "agent/ipmi/binnacle-ipmi"} if (BUILD / "packaging/binnacle-ipmi.service").exists() else {}
    return PROGRAMS | helper


def text_of(name):
    return (BUILD / "packaging" / f"binnacle-{name}.service").read_text()


def analyze(*arguments):
    return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, timeout=60)


class Units(unittest.TestCase):
    def test_systemd_finds_nothing_wrong_in_them(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, program in units().items():
                # As it is installed, but for the program's place: verify wants it to be there.
                unit = pathlib.Path(folder) / f"binnacle-{name}.service"
                unit.write_text(re.sub(r"^ExecStart=\S+", f"ExecStart={BUILD / program}", text_of(name), flags=re.M))
                said = analyze("verify", "--man=no", "--recursive-errors=no", unit)
                self.assertEqual((said.returncode, said.stdout + said.stderr), (0, ""))

    def test_verify_would_say_so(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder) / "binnacle-wrong.service"
            unit.write_text("[Service]\nExecStart=/bin/true\nProtectSystems=strict\n")
            self.assertIn("ProtectSystems", analyze("verify", "--man=no", "--recursive-errors=no", unit).stderr)

    def test_they_leave_no_more_open_than_they_must(self):
        # Out of 10 (systemd-analyze security): what remains is the network, and for the agent its two capabilities.
        # The agent's ProtectSystem= and ProtectHome= count as missing: systemd-analyze does not look at TemporaryFileSystem=/.
        most = {"agent": 25, "aggregator": 13, "ipmi": 19}
        for name in units():
            at_most = most[name]
            said = analyze("security", "--offline=true", f"--threshold={at_most}", BUILD / "packaging" / f"binnacle-{name}.service")
            self.assertEqual(said.returncode, 0, said.stdout + said.stderr)

    def test_nothing_shows_the_agent_again_what_its_unit_hides(self):
        # systemd lets ProtectSystem=strict win over TemporaryFileSystem=/, without a word.
        self.assertRegex(text_of("agent"), r"(?m)^TemporaryFileSystem=/:ro ")
        self.assertNotRegex(text_of("agent"), r"(?m)^ProtectSystem=")

    def test_the_agent_may_have_its_two_capabilities_and_the_others_none(self):
        for name in units():
            allowed = "CAP_PERFMON CAP_DAC_READ_SEARCH" if name == "agent" else ""
            self.assertEqual(re.findall(r"^CapabilityBoundingSet=(.*)$", text_of(name), re.M), [allowed])


class Settings(unittest.TestCase):
    def test_each_program_reads_the_file_that_is_installed_and_prints_it_again(self):
        for name, program in PROGRAMS.items():
            file = BUILD / "packaging" / f"{name}.yaml"
            again = subprocess.run([BUILD / program, "--config", file, "--print-config"], capture_output=True, text=True, timeout=20)
            self.assertEqual((again.returncode, again.stderr), (0, ""))
            self.assertEqual(again.stdout, file.read_text())

    def test_no_name_of_the_machine_that_built_it_is_in_the_file(self):
        self.assertIn('\nreplica-id: ""\n', (BUILD / "packaging" / "aggregator.yaml").read_text())
        self.assertIn('\nnode-name: ""\n', (BUILD / "packaging" / "agent.yaml").read_text())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    arguments, rest = parser.parse_known_args()
    BUILD = arguments.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
