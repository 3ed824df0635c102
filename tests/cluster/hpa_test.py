"""The horizontal pod autoscaler of a real kube-controller-manager on metrics of the real aggregator: TAS's power demo, from 1 pod to 3 and back.

Nodes and running pods are kwok's (the autoscaler wants pods that are Ready); the watts come from simulated packages through real agents. Run by
scripts/test --cluster, or by hand: python3 tests/cluster/hpa_test.py --build build [TestName]
"""

import json
import unittest

from support.control_plane import ROOT, ControlPlane
from custom_metrics_test import register
from trial import Trial, run_tests

BUILD = ROOT / "build"
PLANE = TRIAL = None
NODES = ("n1", "n2")
METRIC = "node_package_power_per_pod"


def setUpModule():
    global PLANE, TRIAL
    PLANE = ControlPlane()
    unittest.addModuleCleanup(PLANE.stop)
    PLANE.begin()
    PLANE.install_crd()
    PLANE.start_controller_manager("--horizontal-pod-autoscaler-sync-period=2s", "--horizontal-pod-autoscaler-initial-readiness-delay=0s")
    PLANE.start_scheduler()
    PLANE.start_kwok(NODES)
    TRIAL = Trial(BUILD)
    unittest.addModuleCleanup(TRIAL.stop)
    TRIAL.make_certificates(NODES, ["binnacle.binnacle.svc"])
    kubeconfig = PLANE.aggregators_kubeconfig()
    PLANE.serve("binnacle", "binnacle", TRIAL.ports["metrics"])
    TRIAL.start_aggregator("--kube-config", kubeconfig, address="0.0.0.0")
    for node in NODES:
        TRIAL.start_package(node, 20)
        TRIAL.start_agent(node, "--sources", "rapl", "--sys-root", TRIAL.sysroot(node))
    TRIAL.wait_for("the metric of both nodes", lambda: len(TRIAL.metric(METRIC)) == len(NODES), 60)
    register(PLANE, TRIAL)


class PowerDemo(unittest.TestCase):
    def setUp(self):
        container = {"name": "stress", "image": "stress"}
        PLANE.apply(
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "power-app", "namespace": "default"},
             "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "power"}},
                      "template": {"metadata": {"labels": {"app": "power"}}, "spec": {"terminationGracePeriodSeconds": 0, "containers": [container]}}}})
        self.addCleanup(PLANE.kubectl, "delete", "hpa,deployment", "--all")
        TRIAL.wait_for("the pod", lambda: len(self.ready_pods()) == 1, 120)

    def ready_pods(self):
        pods = json.loads(PLANE.kubectl("get", "pods", "-l", "app=power", "-o", "json"))["items"]
        return [p["metadata"]["name"] for p in pods if any(c["type"] == "Ready" and c["status"] == "True" for c in p.get("status", {}).get("conditions", []))]

    def autoscaler(self, metric):
        PLANE.apply({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "power-autoscaler", "namespace": "default"},
                     "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "power-app"}, "minReplicas": 1, "maxReplicas": 3,
                              "metrics": [metric],
                              # The usual five minutes of looking back are not what is tried here.
                              "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0, "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}]}}}})

    def status(self):
        return json.loads(PLANE.kubectl("get", "hpa", "power-autoscaler", "-o", "json")).get("status", {})

    def until_pods(self, count):
        try:
            TRIAL.wait_for(f"{count} pods", lambda: len(self.ready_pods()) == count and self.status().get("currentReplicas") == count, 180)
        except Exception as failed:
            raise AssertionError(f"{failed}\n{PLANE.kubectl('describe', 'hpa', check=False)[1]}") from failed

    def heat(self, watts):
        for node in NODES:
            TRIAL.heat(node, watts)

    def test_pods_follow_the_power_of_their_nodes_up_and_down(self):
        self.addCleanup(self.heat, 20)
        self.autoscaler({"type": "Pods", "pods": {"metric": {"name": METRIC}, "target": {"type": "AverageValue", "averageValue": "50"}}})
        TRIAL.wait_for("the autoscaler to read the metric", lambda: any("pods" in m and m["pods"]["current"].get("averageValue")
                                                                      for m in self.status().get("currentMetrics") or [] if m), 120)
        self.assertEqual(len(self.ready_pods()), 1)
        self.heat(160)  # of 205 W
        self.until_pods(3)
        self.heat(10)
        self.until_pods(1)

    def test_an_object_s_metric_is_read_for_one_pod(self):
        pod = self.ready_pods()[0]
        self.autoscaler({"type": "Object", "object": {"metric": {"name": METRIC}, "describedObject": {"apiVersion": "v1", "kind": "Pod", "name": pod},
                                                      "target": {"type": "Value", "value": "1k"}}})
        TRIAL.wait_for("the autoscaler to read the metric", lambda: any("object" in m and m["object"]["current"].get("value")
                                                                      for m in self.status().get("currentMetrics") or [] if m), 120)
        active = {c["type"]: (c["status"], c["reason"]) for c in self.status()["conditions"]}
        self.assertEqual(active["ScalingActive"], ("True", "ValidMetricFound"))


if __name__ == "__main__":
    run_tests()
