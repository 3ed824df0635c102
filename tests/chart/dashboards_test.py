"""The chart's Grafana dashboards, as its ConfigMap holds them, are what Grafana's published schema wants: tests/cluster/build grafana-schema reads
them strictly into the types of Grafana's own SDK. That their queries return what they should is tests/integration/grafana_test.py.

Run by scripts/check chart, or by hand: python3 tests/chart/dashboards_test.py --helm HELM [TestName]
"""

import copy
import json
import pathlib
import subprocess
import tempfile
import unittest

import matrix
from matrix import RENDERED
from rendered import ROOT


def schema_program():
    folder = subprocess.run([ROOT / "tests/cluster/build", "grafana-schema"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return pathlib.Path(folder) / "grafana-schema"


class Dashboards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = schema_program()
        data = RENDERED["everything optional"].one("ConfigMap", "binnacle-dashboards")["data"]
        cls.boards = {name: json.loads(text) for name, text in data.items()}

    def complaints(self, board):
        """What the schema says of a dashboard: its lines; none if it is right."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(board, file)
            file.flush()
            said = subprocess.run([self.program, file.name], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(said.returncode, 1 if said.stderr else 0)
        return said.stderr.replace(file.name + ": ", "").splitlines()

    def test_every_dashboard_is_as_the_schema_wants_it(self):
        self.assertTrue(self.boards)
        for name, board in self.boards.items():
            with self.subTest(name):
                self.assertEqual(self.complaints(board), [])

    def test_what_is_wrong_is_found(self):
        board, = self.boards.values()

        def a_panel(kind, change):
            def at(changed):
                for panels in [changed["panels"], *(p["panels"] for p in changed["panels"] if p.get("panels"))]:
                    for panel in panels:
                        if panel["type"] == kind:
                            return change(panel)
                return self.fail(f"no panel is a {kind}")
            return at
        wrong = {
            "spelling": (lambda b: b.update(refesh="30s"), "refesh"),
            "type of a field": (lambda b: b.update(schemaVersion="39"), "schemaVersion"),
            "a variable's type": (lambda b: b["templating"]["list"][0].update(multi="yes"), "templating.list[0].multi"),
            "an annotation without a name": (lambda b: b["annotations"]["list"][0].pop("name"), "annotations.list[0].name"),
            "an option's spelling": (a_panel("stat", lambda p: p["options"].update(colourMode="value")), "unexpected field 'colourMode'"),
            "an option that is missing": (a_panel("bargauge", lambda p: p["options"].pop("displayMode")), "options.displayMode"),
            "a field's configuration": (a_panel("timeseries", lambda p: p["fieldConfig"]["defaults"].update(unit=5)), "FieldConfig.defaults.unit"),
        }
        for name, (change, path) in wrong.items():
            with self.subTest(name):
                changed = copy.deepcopy(board)
                change(changed)
                said = self.complaints(changed)
                self.assertEqual(len(said), 1, said)
                self.assertIn(path, said[0])


if __name__ == "__main__":
    matrix.run(__doc__)
