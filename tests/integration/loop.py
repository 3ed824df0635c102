"""What the tests of the whole loop stand on: the real programs on loopback, with two nodes whose simulated packages can be heated."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from trial import ROOT, Trial, pod  # noqa: E402  (the path comes first)

BUILD = ROOT / "build"
METRIC = "rapl_power_watts"


def policy(strategies, name="power-policy", extra=""):
    return (f"apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: {{name: {name}, namespace: default}}\n"
            f"spec:\n{extra}  strategies:\n{strategies}")


def rule(kind, target, metric=METRIC, more=""):
    return f"    {kind}:\n{more}      rules:\n      - {{metricname: {metric}, operator: GreaterThan, target: {target}}}\n"


class Loop(unittest.TestCase):
    """Two nodes of two packages with dram: cool at 40 W a package (88 W in all), warm at 60 W (132 W)."""

    def setUp(self):
        self.trial = Trial(BUILD)
        self.addCleanup(self.trial.stop)
        self.trial.make_certificates(["cool", "warm"])

    def begin(self, text, *more, agents=()):
        """`more` are flags of the aggregator, `agents` of the agents."""
        self.trial.write_policy(text)
        self.trial.start_aggregator(*more)
        for node, watts in (("cool", 40), ("warm", 60)):
            self.trial.start_package(node, watts)
            self.trial.start_agent(node, "--sys-root", self.trial.sysroot(node), *agents)
        self.trial.wait_for("watts of both nodes", lambda: len(self.trial.metric(METRIC)) == 2)

    def ask(self, verb, nodes, ports=None):
        with self.trial.scheduler(ports) as scheduler:
            answer, _ = scheduler.call(verb, pod("web"), nodes)
        return answer

    def passing(self, ports=None):
        return sorted(self.ask("filter", ["cool", "warm"], ports)["NodeNames"])

    def until_passing(self, nodes):
        self.trial.wait_for(f"the filter to pass {nodes}", lambda: self.passing() == nodes)
