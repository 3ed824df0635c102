"""A pod goes where it costs the fewest watts, with the real programs on loopback: two machines with a load, a meter and curves of their own,
which the aggregator has to learn first.

Run by meson (suite integration), or by hand: python3 tests/integration/loop_power_test.py --build build [TestName]
"""

import json
import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("scripts", "tests/support/machine")]
from played import Machine, Machines  # noqa: E402  (the path comes first)
from trial import ROOT, Failure, Trial, pod, run_tests  # noqa: E402

BUILD = ROOT / "build"
CPUS = 8
POLICY = """apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: power-policy, namespace: default}
spec:
  strategies:
    minimizepower: {}
"""


class Power(unittest.TestCase):
    def setUp(self):
        self.trial = Trial(BUILD)
        self.addCleanup(self.trial.stop)
        # At 10 % load "steep" draws least by far, and each core more costs it ten times what it costs "flat".
        self.curves = {"steep": lambda load: round(12 + 200 * load), "flat": lambda load: round(100 + 20 * load)}
        self.trial.make_certificates(list(self.curves))
        self.machines = {}

    def begin(self):
        self.trial.write_policy(POLICY)
        self.trial.start_aggregator()
        for node, watts in self.curves.items():
            # Another model for each: the two have nothing to tell each other.
            machine = self.machines[node] = Machine(self.trial, node, CPUS, watts, f"A {node} CPU", load=0.1)
            machine.start()
        living = Machines(list(self.machines.values()))
        living.start()
        self.addCleanup(living.stop)

    def known(self, node):
        status, text = self.trial.ask("ops", f"/api/v1/power/{node}")
        return json.loads(text) if status == 200 else {"model": None}

    def until_learned(self, load):
        """Until both nodes' curves follow what was measured at this load: after ten samples there (least_samples), of which a node has one a second. With fewer
        the curve there is the guess of a usual server."""
        def has_point(node):
            model = self.known(node)["model"]
            return model is not None and any(abs(p["load"] - load) < 0.001 and p.get("samples", 0) >= 10 for p in model["curve"])
        self.trial.wait_for(f"both nodes to be measured at {load}", lambda: all(map(has_point, self.curves)), 180)

    def everywhere(self, load):
        for machine in self.machines.values():
            machine.load = load

    def prioritize(self, name, cores):
        asking = pod(name)
        asking["spec"]["containers"][0]["resources"]["requests"] = {"cpu": cores}
        with self.trial.scheduler() as scheduler:
            answer, _ = scheduler.call("prioritize", asking, list(self.curves))
        return {row["Host"]: row["Score"] for row in answer}

    def wait_for_scores(self, what, name, cores, better, worse):
        """Until `better` has 10 points and `worse` at most half of that: the last point depends on when this machine let the meters and the load be read."""
        last = {}

        def scored():
            last.update(self.prioritize(name, cores))
            return last.get(better) == 10 and last.get(worse, 10) <= 5
        try:
            self.trial.wait_for(what, scored)
        except Failure as failure:
            curves = {node: [(p["load"], p["watts"], p.get("samples")) for p in self.known(node)["model"]["curve"]] for node in self.curves}
            raise AssertionError(f"the scores are {last} at last, by the curves {curves}") from failure

    def test_a_pod_goes_where_it_costs_the_fewest_watts(self):
        self.begin()
        self.assertEqual(self.prioritize("too-early", "2"), {})  # nothing is known: no opinion, and no score of 0 for all
        for load in (0.1, 0.5):
            self.everywhere(load)
            self.until_learned(load)
        self.everywhere(0.1)
        self.trial.wait_for("the load to fall", lambda: all(self.known(node).get("loadRatio", 1) < 0.2 for node in self.curves))
        self.wait_for_scores("the pod to be sent to the flat node", "web", "2", better="flat", worse="steep")

        now = {node: self.known(node) for node in self.curves}
        self.assertLess(now["steep"]["watts"], now["flat"]["watts"])  # the node that draws least is the dearer one
        self.assertEqual({node: said["model"]["source"] for node, said in now.items()}, {"steep": "node", "flat": "node"})

        why = self.trial.cli("why", "web")
        self.assertEqual(why.returncode, 0, why.stderr)
        for part in ("W NOW", "W WITH POD", "IN FLIGHT", "the node's own"):
            self.assertIn(part, why.stdout)
        power = self.trial.cli("power", "steep")
        self.assertEqual(power.returncode, 0, power.stderr)
        self.assertIn("learned from its own meter", power.stdout)
        self.assertIn("<- now", power.stdout)

        def asked(pods):
            answer = self.trial.cli("what-if", "--pods", str(pods), "--cpu", "2", "-o", "json")
            return json.loads(answer.stdout)
        # The load that counts is a mean of ten seconds, and falls later than the one above.
        self.trial.wait_for("one pod more to be placed on the flat node", lambda: [node["node"] for node in asked(1)["nodes"]] == ["flat"])
        one = asked(1)
        self.assertEqual((one["placed"], one["knownNodes"]), (1, 2))
        self.assertGreater(one["wattsThen"], one["wattsNow"])
        many = self.trial.cli("what-if", "--pods", "30", "--cpu", "2", "--policy", "power-policy")
        self.assertEqual(many.returncode, 1, many.stdout + many.stderr)  # some find no room
        for part in ("30 pods of 2 CPU by policy default/power-policy (BestChord up to 90 % load)", "pods without room",
                     "no room for one more pod on 2 nodes: flat, steep", "the node's own"):
            self.assertIn(part, many.stdout)
        unknown = self.trial.cli("what-if", "--pods", "2", "--cpu", "2", "--policy", "else")
        self.assertEqual(unknown.returncode, 1)
        self.assertIn("no policy 'else' with minimizepower is in force, only default/power-policy", unknown.stderr)

    def test_pods_in_flight_fill_a_node_before_its_load_shows_them(self):
        self.begin()
        self.until_learned(0.1)
        # By what is known at this load alone, the node that draws less is the cheaper one, for all that it can take: 7.2 of 8 cores.
        self.wait_for_scores("a first score", "a", "3", better="steep", worse="flat")
        self.wait_for_scores("the same, with room for a second pod", "b", "3", better="steep", worse="flat")
        self.wait_for_scores("the other node to be better once one is full", "c", "3", better="flat", worse="steep")
        self.assertIn("6.0", self.trial.cli("why", "c", "--node", "steep").stdout)
        said = json.loads(self.trial.cli("what-if", "--pods", "1", "--cpu", "3", "-o", "json").stdout)
        self.assertEqual([(node["node"], node["inFlightCores"]) for node in said["nodes"]], [("flat", 3.0)])  # pod c
        self.assertIn("steep", said["full"]["nodes"])


if __name__ == "__main__":
    run_tests()
