"""Demo 1 of Telemetry-Aware Scheduling with real pods: a policy, pods of our scheduler, a node that gets hot, its label, the descheduler's eviction, and
the pods on the other node. And what a kubelet's restart on a labelled node does to pods, by the affinity that they have.

Run by scripts/test --kubelet, or by hand: python3 tests/kubelet/demo_test.py [TestName]
"""

import sys
import time
import unittest

import namespaces
import releases
from nodes import ROOT
from trial import run_tests

BUILD = ROOT / "build"
LAB = None
HOT = {"rules": [{"metricname": "heat", "operator": "GreaterThan", "target": 50, "staleAfter": "10m"}]}
POLICY = {"apiVersion": "telemetry.intel.com/v1alpha1", "kind": "TASPolicy", "metadata": {"name": "no-heat", "namespace": "default"},
          "spec": {"strategies": {"dontschedule": HOT, "deschedule": HOT,
                                  "scheduleonmetric": {"rules": [{"metricname": "heat", "operator": "LessThan"}]}}}}
AVOIDS = {"matchExpressions": [{"key": "no-heat", "operator": "NotIn", "values": ["violating"]}]}
PREFERRED = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": AVOIDS}]}
REQUIRED = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [AVOIDS]}}


def setUpModule():
    global LAB
    LAB = releases.begin("--set", "descheduler.enabled=true", "--set", "descheduler.interval=10s")


def app(name, affinity, replicas=3):
    container = {"name": "app", "image": "localhost/app:latest", "imagePullPolicy": "Never",
                 "command": ["/bin/sh", "-c", "trap 'exit 0' TERM; while true; do sleep 0.2; done"],
                 "resources": {"limits": {"telemetry/scheduling": "0"}}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "default"}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name, "telemetry-policy": "no-heat"}},
            "spec": {"schedulerName": "binnacle-scheduler", "terminationGracePeriodSeconds": 3, "containers": [container],
                     "affinity": {"nodeAffinity": affinity}}}}}


def pods_of(name):
    return [p for p in LAB.get("pods", namespace="default", labels=f"app={name}") if "deletionTimestamp" not in p["metadata"]]


def places(name):
    """The nodes of its pods that are ready, sorted."""
    return sorted(p["spec"]["nodeName"] for p in pods_of(name) if releases.is_ready(p))


def bound(name):
    """The nodes of its pods that have one, sorted."""
    return sorted(p["spec"]["nodeName"] for p in pods_of(name) if "nodeName" in p["spec"])


def labelled():
    return sorted(n["metadata"]["name"] for n in LAB.get("nodes") if n["metadata"]["labels"].get("no-heat") == "violating")


def heat(**nodes):
    for node, value in nodes.items():
        releases.give_number(LAB, node, "heat", value)


class Demo(unittest.TestCase):
    def setUp(self):
        heat(n1=40, n2=60)
        LAB.apply(POLICY)
        LAB.wait_for("the label of n2", lambda: labelled() == ["n2"], 120)

    def tearDown(self):
        LAB.kubectl("delete", "deployment", "--all", "-n", "default", "--wait=false")
        LAB.wait_for("no pods", lambda: not LAB.get("pods", namespace="default"), 180)

    def moved(self, name, affinity):
        began = time.monotonic()
        LAB.apply(app(name, affinity))
        LAB.wait_for("three pods on the node that is cool", lambda: places(name) == ["n1"] * 3, 180)
        placed = time.monotonic() - began
        there = {p["metadata"]["uid"] for p in pods_of(name)}
        heat(n2=40)
        LAB.wait_for("no label", lambda: labelled() == [], 120)
        began = time.monotonic()
        heat(n1=60)
        LAB.wait_for("the label of n1", lambda: labelled() == ["n1"], 120)
        label = time.monotonic() - began
        LAB.wait_for("an eviction", lambda: there - {p["metadata"]["uid"] for p in pods_of(name)}, 300)
        eviction = time.monotonic() - began
        LAB.wait_for("all pods with a place on the other node", lambda: bound(name) == ["n2"] * 3, 300)
        binding = time.monotonic() - began
        LAB.wait_for("three pods on the other node", lambda: places(name) == ["n2"] * 3, 300)
        print(f"{name}: placed and ready {placed:.1f} s after they were made. After the node got hot: violation and label {label:.1f} s, first eviction "
              f"{eviction:.1f} s, all bound to the other node {binding:.1f} s, ready there {time.monotonic() - began:.1f} s", file=sys.stderr)

    def test_pods_that_prefer_nodes_without_the_label_are_placed_and_moved(self):
        self.moved("prefers", PREFERRED)

    def test_so_are_pods_that_require_them_as_tas_documents_it(self):
        self.moved("requires", REQUIRED)

    # What the chart's README says under "Moving pods". Both nodes are hot, so that the descheduler leaves all where they are.
    def test_a_kubelet_s_restart_on_a_labelled_node_spares_pods_that_prefer_and_fails_those_that_require(self):
        for name, affinity in (("prefers", PREFERRED), ("requires", REQUIRED)):
            LAB.apply(app(name, affinity))
        LAB.wait_for("all pods on the node that is cool", lambda: places("prefers") == places("requires") == ["n1"] * 3, 180)
        before = {p["metadata"]["name"] for p in pods_of("prefers")}
        heat(n1=60)
        LAB.wait_for("both labels", lambda: labelled() == ["n1", "n2"], 120)
        LAB.restart_program("n1")

        def ended():
            events = LAB.get("events", namespace="default")
            return {e["involvedObject"]["name"] for e in events if e["reason"] == "NodeAffinity" and "Predicate NodeAffinity failed" in e["message"]}
        LAB.wait_for("the kubelet to end the pods that require", lambda: len(ended()) == 3 and places("requires") == [], 180)
        self.assertEqual({name.partition("-")[0] for name in ended()}, {"requires"})
        LAB.wait_for("the node to be ready", lambda: "n1" in LAB.ready_nodes(), 120)
        self.assertEqual({p["metadata"]["name"] for p in pods_of("prefers") if releases.is_ready(p)}, before)
        self.assertEqual([p["metadata"]["name"] for p in releases.agents(LAB) if not releases.is_ready(p)], [])


if __name__ == "__main__":
    namespaces.enter_tests()
    run_tests(__doc__)
