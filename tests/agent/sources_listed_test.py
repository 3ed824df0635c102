"""Every place that lists the agent's sources has the ones that the program has.

usage: sources_listed_test.py BINNACLE-AGENT

`binnacle-agent` says which sources it knows, and which it reads unless told otherwise. The places below cannot ask it: the chart, `binnacle migrate`, the trial that starts whole programs, and the tables that people
read ("A new source" in agent/README.md).
"""

import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
AGENT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
import trial  # noqa: E402


def said(option):
    return subprocess.run([AGENT, option], check=True, capture_output=True, text=True).stdout


def cells(document, heading):
    """The first cells of the first table after `heading`."""
    table = (ROOT / document).read_text().partition(heading)[2]
    return re.findall(r"^\| (.*?) \|", table.partition("|---")[2].partition("\n\n")[0], re.MULTILINE)


class SourcesListed(unittest.TestCase):
    all = re.search(r"^# what to read: (.*)$", said("--print-config"), re.MULTILINE)[1].split(", ")
    usual = json.loads(re.search(r"^sources: (\[.*\])$", said("--print-config"), re.MULTILINE)[1])

    def test_the_chart_reads_the_usual_ones_and_a_bmc_only_where_it_may(self):
        chart = (ROOT / "charts/binnacle/templates/agent/config.yaml").read_text()
        listed = re.search(r'"sources" \(list (.*?)\)', chart)[1]
        self.assertEqual([name for name in self.usual if name != "bmc"], re.findall(r'"(\w+)"', listed))

    def test_migrate_adds_rdt_to_the_usual_ones(self):
        migrate = (ROOT / "cli/migrate/collectors.cpp").read_text()
        listed = re.search(r"for \(const char\* source : \{(.*?)\}\)", migrate)[1]
        self.assertEqual([*self.usual, "rdt"], re.findall(r'"(\w+)"', listed))

    def test_a_trial_can_start_all_of_them(self):
        self.assertEqual(self.all, trial.EVERY_SOURCE.split(","))

    def test_people_find_all_of_them_in_the_tables(self):
        for document, heading in (("docs/operate.md", "## What is read"), ("agent/PRIVILEGES.md", "# ")):
            listed = re.findall(r"`([a-z-]+)`", " ".join(cells(document, heading)))
            for name in self.all:
                with self.subTest(document=document, source=name):
                    self.assertIn(name, listed)


if __name__ == "__main__":
    unittest.main()
