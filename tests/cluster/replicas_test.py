"""Two replicas of the aggregator behind one address: killing either loses no decision, and both say the same.

Run by scripts/test --cluster, or by hand: python3 tests/cluster/replicas_test.py --build build [TestName]
"""

import json
import signal
import unittest

from support.control_plane import ROOT, ControlPlane
from support.service import Service
from trial import Trial, free_port, pod, run_tests

BUILD = ROOT / "build"
NODES = ["cold", "cool", "warm", "hot"]
POLICY = {"apiVersion": "telemetry.intel.com/v1alpha1", "kind": "TASPolicy", "metadata": {"name": "power-policy", "namespace": "default"},
          "spec": {"strategies": {"dontschedule": {"rules": [{"metricname": "load_metric", "operator": "GreaterThan", "target": 50}]},
                                  "scheduleonmetric": {"rules": [{"metricname": "load_metric", "operator": "LessThan"}]}}}}
PLANE = None


def setUpModule():
    global PLANE
    PLANE = ControlPlane()
    unittest.addModuleCleanup(PLANE.stop)
    PLANE.begin()
    PLANE.start_controller_manager()
    PLANE.start_kwok(NODES)
    PLANE.install_crd()


class Replicas(unittest.TestCase):
    """Two replicas, each with its ports; "hot" is refused."""

    def setUp(self):
        self.replicas = {name: Trial(BUILD) for name in ("one", "two")}
        for trial in self.replicas.values():
            self.addCleanup(trial.stop)
        first, second = self.replicas.values()
        first.make_certificates(NODES)
        second.pki = first.pki
        PLANE.kubectl("apply", "-f", "-", stdin=json.dumps(POLICY))
        self.addCleanup(PLANE.kubectl, "delete", "tasp", "power-policy")
        for name in self.replicas:
            self.start(name)
        self.load(cold=10, cool=20, warm=30, hot=90)
        for node in NODES:
            first.start_agent(node, "--aggregator", f"localhost:{second.ports['ingest']}", "--sources", "textfile",
                              "--textfile-directory", first.folder / node)
        for name in self.replicas:
            self.until_ready(name)

    def start(self, name):
        self.replicas[name].start_aggregator("--kube-config", PLANE.kubeconfig, "--replica-id", name)

    def load(self, **loads):
        for node, load in loads.items():
            folder = self.replicas["one"].folder / node
            folder.mkdir(exist_ok=True)
            (folder / "new").write_text(f"load_metric {load}\n")
            (folder / "new").rename(folder / "text.prom")

    def answers(self, name):
        """What it says of a pod: (who passes, who gets which score)."""
        with self.replicas[name].scheduler() as scheduler:
            passing, _ = scheduler.call("filter", pod("web"), NODES)
            scores, _ = scheduler.call("prioritize", pod("web"), NODES)
        return passing["NodeNames"], {s["Host"]: s["Score"] for s in scores}

    def until_ready(self, name):
        trial = self.replicas[name]
        trial.wait_for(f"replica {name} to know all nodes", lambda: len(trial.metric("load_metric")) == len(NODES), 60)
        trial.wait_for(f"replica {name} to refuse hot", lambda: self.answers(name)[0] == ["cold", "cool", "warm"], 60)

    def test_both_say_the_same_of_the_same_data(self):
        for loads in ({}, {"cold": 60}, {"cold": 40, "hot": 35}, {"cool": 51, "warm": 49}):
            self.load(**loads)
            one = self.replicas["one"]
            one.wait_for(f"both to say the same of {loads}", lambda: all(
                {i["describedObject"]["name"]: i["value"] for i in t.metric("load_metric")}.items() >= {n: str(v) for n, v in loads.items()}.items()
                for t in self.replicas.values()), 60)
            one.wait_for("the same", lambda: self.answers("one") == self.answers("two"), 60)
        self.assertEqual(self.answers("one"), (["cold", "warm", "hot"], {"cold": 7, "cool": 0, "warm": 1, "hot": 10}))

    def leaders(self):
        return [name for name, trial in self.replicas.items() if "aggregator" in trial.processes
                and "binnacle_kubernetes_leads 1" in trial.ask("ops", "/metrics")[1]]

    def placed(self):
        pods = json.loads(PLANE.request("GET", "/api/v1/namespaces/default/pods")[1])["items"]
        return [p["spec"]["nodeName"] for p in pods if "nodeName" in p["spec"]]

    def make_pods(self, names):
        for name in names:
            made = pod(name)
            made["metadata"].pop("uid")
            made["spec"]["schedulerName"] = "binnacle-scheduler"
            made["spec"]["terminationGracePeriodSeconds"] = 0
            code, text = PLANE.request("POST", "/api/v1/namespaces/default/pods", dict(made, apiVersion="v1", kind="Pod"))
            self.assertEqual(code, 201, text)

    def test_killing_either_loses_no_decision(self):
        service = Service(*(t.ports["extender"] for t in self.replicas.values()))
        self.addCleanup(service.stop)
        pki = self.replicas["one"].pki
        said = self.replicas["one"].cli("scheduler-config", "-o", "json", "--url", f"https://localhost:{service.port}", "--required", "--timeout",
                                        "30s", "--ca-file", pki / "server-ca.crt", "--cert-file", pki / "client-scheduler.crt", "--key-file",
                                        pki / "client-scheduler.key")
        self.assertEqual(said.returncode, 0, said.stderr)
        PLANE.start_scheduler(json.loads(said.stdout), "binnacle-scheduler")
        self.addCleanup(PLANE.end, "binnacle-scheduler")
        self.addCleanup(PLANE.kubectl, "delete", "pods", "--all", "-n", "default")
        made = 0
        for name, other in (("one", "two"), ("two", "one")):
            with self.subTest(f"without replica {name}"):
                self.make_pods([f"before-{name}-{i}" for i in range(10)])
                self.replicas[name].end("aggregator", signal.SIGKILL)
                self.make_pods([f"after-{name}-{i}" for i in range(10)])
                made += 20
                PLANE.wait_for(f"{made} pods with a node", lambda: len(self.placed()) == made, 120)
                self.assertNotIn("hot", self.placed())
                self.assertIn(f"after-{name}-9", self.replicas[other].ask("ops", f"/api/v1/decisions?pod=after-{name}-9")[1])
                PLANE.wait_for("one that leads", lambda: self.leaders() == [other], 60)
            self.start(name)
            self.until_ready(name)

    def test_a_fresh_replica_is_not_ready_before_agents_have_come(self):
        late = Trial(BUILD)
        self.addCleanup(late.stop)
        self.replicas["late"] = late
        late.pki = self.replicas["one"].pki
        self.start("late")
        late.wait_for("the replica to wait for agents", lambda: "[-]agents failed" in late.ask("ops", "/readyz?verbose")[1])
        for node in NODES:
            late.start_agent(node, "--sources", "textfile", "--textfile-directory", self.replicas["one"].folder / node)
        late.wait_for("it to be ready", lambda: late.ask("ops", "/readyz")[0] == 200, 60)
        self.until_ready("late")
        for node in NODES:
            late.end(node)
        late.wait_for("it to miss them", lambda: 'binnacle_nodes{state="connected"} 0' in late.ask("ops", "/metrics")[1], 60)
        self.assertEqual(late.ask("ops", "/readyz?verbose")[0], 200)

    # It was ready after half a minute, knew no policy, and would have passed every node.
    def test_a_replica_that_could_not_read_policies_is_not_ready_however_long_and_says_why(self):
        port = free_port()
        access = PLANE.folder / "away.kubeconfig"
        access.write_text(PLANE.kubeconfig.read_text().replace(f":{PLANE.port}", f":{port}"))
        late = Trial(BUILD)
        self.addCleanup(late.stop)
        late.pki = self.replicas["one"].pki
        late.start_aggregator("--kube-config", access, "--replica-id", "late")
        late.wait_for("its patience with agents to end", lambda: "[+]agents ok" in late.ask("ops", "/readyz?verbose")[1], 120)
        status, text = late.ask("ops", "/readyz")
        self.assertEqual(status, 500)
        self.assertIn("[-]policies failed: the policies are not read from the API server and judged yet", text)
        self.assertIn("[-]nodes failed: the nodes are not read from the API server yet", text)
        service = Service(PLANE.port, at=("127.0.0.1", port))
        self.addCleanup(service.stop)
        late.wait_for("it to be ready", lambda: late.ask("ops", "/readyz")[0] == 200, 120)


if __name__ == "__main__":
    run_tests()
