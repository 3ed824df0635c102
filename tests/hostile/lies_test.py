"""What a node's lie may do to other nodes' scores, with the real programs on loopback: three agents, of which one says in a textfile whatever its machine's
owner likes. The small cluster is the usual one, and the hard one: of three values nobody can say by statistics which one is wrong.

Run by meson (suite hostile), or by hand: python3 tests/hostile/lies_test.py --build build [TestName]
"""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from trial import ROOT, Trial, pod, run_tests  # noqa: E402  (the path comes first)

BUILD = ROOT / "build"
PATIENCE = 300  # seconds for what has to come, on a machine that has no time
HONEST = {"cool": 100, "warm": 200}
POLICY = """apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: %s, namespace: default}
spec:
  herdDamping: Disabled
  strategies:
    scheduleonmetric:
      rules:
      - {metricname: %s, operator: %s}
"""


class Lies(unittest.TestCase):
    def setUp(self):
        self.trial = Trial(BUILD)
        self.addCleanup(self.trial.stop)
        self.trial.make_certificates([*HONEST, "liar"])
        # A number of the user's own can be anything; package_power_avg is percent of the thermal design power.
        for name, metric, operator in (("fewest", "backlog", "LessThan"), ("most", "backlog", "GreaterThan"), ("least-power", "package_power_avg", "LessThan")):
            self.trial.write_policy(POLICY % (name, metric, operator), f"{name}.yaml")

    def say(self, node, value):
        folder = self.trial.folder / node / "textfile"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "new").write_text(f"backlog {value}\npackage_power_avg {value}\n")
        (folder / "new").rename(folder / "lies.prom")
        return folder

    def begin(self, *more):
        self.trial.start_aggregator(*more)
        for node, value in {**HONEST, "liar": 150}.items():
            self.trial.start_agent(node, "--sources", "textfile", "--textfile-directory", self.say(node, value))
        self.trial.wait_for("values of three nodes", lambda: all(len(self.trial.metric(m)) == 3 for m in ("backlog", "package_power_avg")), PATIENCE)

    def scores(self, policy):
        with self.trial.scheduler() as scheduler:
            answer, _ = scheduler.call("prioritize", pod("web", policy=policy), [*HONEST, "liar"])
        return {one["Host"]: one["Score"] for one in answer}

    def until_scores(self, policy, cool, warm, liar):
        wanted = {"cool": cool, "warm": warm, "liar": liar}
        self.trial.wait_for(f"{policy} to give {wanted}", lambda: self.scores(policy) == wanted, PATIENCE)

    def decision(self):
        """The newest one, as `binnacle why` and the doctor read it."""
        return json.loads(self.trial.ask("ops", "/api/v1/decisions?limit=1")[1])["decisions"][0]

    def warnings(self):
        return " ".join(json.loads(self.trial.ask("ops", "/api/v1/status")[1])["warnings"])

    def test_of_three_nodes_one_lies_and_the_others_are_still_ranked_by_their_values(self):
        self.begin()
        self.until_scores("fewest", cool=10, warm=0, liar=5)
        self.assertNotIn("liar", self.warnings())
        # Without a bound the honest two would share the best score, or the worst.
        self.say("liar", 10**15)
        self.until_scores("fewest", cool=10, warm=9, liar=0)
        self.until_scores("most", cool=0, warm=1, liar=10)
        told = {one["node"]: one for one in self.decision()["nodes"]}
        self.assertTrue(told["liar"]["beyond"])
        self.assertNotIn("beyond", told["warm"])
        self.assertIn("far outside the other nodes' range", told["liar"]["text"])
        self.assertIn("node liar: its backlog was far outside", self.warnings())
        self.assertIn("far outside", self.trial.cli("why", "web").stdout)

    def test_a_value_that_cannot_be_makes_no_node_the_best_whichever_way_scores_are_made(self):
        self.begin()
        self.until_scores("least-power", cool=10, warm=0, liar=5)
        self.say("liar", -5000)
        self.until_scores("least-power", cool=10, warm=0, liar=0)
        told = {one["node"]: one for one in self.decision()["nodes"]}
        self.assertTrue(told["liar"]["implausible"])
        self.assertIn("package_power_avg says -5000, which cannot be", told["liar"]["text"])
        self.assertIn("node liar: its package_power_avg was a value that cannot be", self.warnings())
        self.trial.end("aggregator")
        self.trial.start_aggregator("--score", "rank")
        self.until_scores("least-power", cool=10, warm=9, liar=0)


if __name__ == "__main__":
    run_tests(__doc__)
