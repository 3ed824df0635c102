"""Real schedulers that ask the aggregator: where pods land, what their events say, and what happens when a node gets hot.

Nodes and running pods are kwok's; agents, aggregator, certificates and scheduler configurations are the real ones. Run by
scripts/test --cluster, or by hand: python3 tests/cluster/scheduler_test.py --build build [TestName]
"""

import collections
import json
import os
import subprocess
import sys
import time
import unittest

from support.control_plane import ROOT, ControlPlane
from trial import Trial, decimal, run_tests

BUILD = ROOT / "build"
NODES = ["cold", "cool", "warm"]
PLANE = None


def setUpModule():
    global PLANE
    PLANE = ControlPlane()
    unittest.addModuleCleanup(PLANE.stop)
    PLANE.begin()
    PLANE.start_controller_manager()
    PLANE.start_kwok(NODES)
    PLANE.install_crd()


def rule(metric, operator, target=0):
    return {"metricname": metric, "operator": operator, "target": target}


# One round of the descheduler, as TAS's demos have it.
EVICT = {"profiles": [{"name": "violating", "plugins": {"deschedule": {"enabled": ["RemovePodsViolatingNodeAffinity"]}}, "pluginConfig": [
    {"name": "DefaultEvictor", "args": {"evictLocalStoragePods": True}},
    {"name": "RemovePodsViolatingNodeAffinity", "args": {"nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]}}]}]}


def pod_template(policy, scheduler, avoids):
    """What TAS asks of a pod: label, limit, affinity, schedulerName. The limit is 0: see aggregator/extender/README.md, "The marker resource"."""
    return {
        "metadata": {"labels": {"app": policy, "telemetry-policy": policy}},
        "spec": {
            "schedulerName": scheduler,
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "app", "image": "app", "resources": {"limits": {"telemetry/scheduling": "0"}}}],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": key, "operator": "NotIn", "values": [value]} for key, value in avoids.items()]}]}}},
        },
    }


class Scheduling(unittest.TestCase):
    """Three nodes; each one's watts and numbers of the user's own can be set."""

    @classmethod
    def setUpClass(cls):
        cls.trial = Trial(BUILD)
        cls.addClassCleanup(cls.trial.stop)
        cls.trial.make_certificates(NODES)
        cls.trial.start_aggregator("--kube-config", PLANE.kubeconfig)
        for node in NODES:
            cls.numbers(node, health_metric=0)
            cls.trial.start_package(node, 10)
            cls.trial.start_agent(node, "--sys-root", cls.trial.sysroot(node), "--textfile-directory", cls.trial.folder / node / "text")
        cls.start_scheduler("binnacle-scheduler")
        cls.addClassCleanup(PLANE.end, "binnacle-scheduler")
        cls.trial.wait_for("the agents", lambda: len(cls.trial.metric("health_metric")) == len(NODES), 60)

    @classmethod
    def start_scheduler(cls, name, *more):
        """One with the configuration that our command prints."""
        pki = cls.trial.pki
        said = cls.trial.cli("scheduler-config", "-o", "json", "--kubernetes", PLANE.version(), "--name", name, "--url",
                             f"https://localhost:{cls.trial.ports['extender']}", "--ca-file", pki / "server-ca.crt",
                             "--cert-file", pki / "client-scheduler.crt", "--key-file", pki / "client-scheduler.key",
                             # A machine under load answers late, and an ignorable extender is then left out.
                             "--timeout", "30s", "--required", *more)
        assert said.returncode == 0, said.stderr
        PLANE.start_scheduler(json.loads(said.stdout), name)

    @classmethod
    def numbers(cls, node, **values):
        folder = cls.trial.folder / node / "text"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "new").write_text("".join(f"{name} {value}\n" for name, value in values.items()))
        (folder / "new").rename(folder / "text.prom")

    def setUp(self):
        self.space = "t-" + str(abs(hash(self.id())))[:8]
        PLANE.kubectl("create", "namespace", self.space)
        self.addCleanup(PLANE.kubectl, "delete", "namespace", self.space, "--wait=false")
        PLANE.wait_for("its service account", lambda: self.get(f"serviceaccounts/default"), 60)

    def get(self, path):
        code, text = PLANE.request("GET", f"/api/v1/namespaces/{self.space}/{path}")
        return json.loads(text) if code == 200 else None

    def apply(self, kind, name, version="v1", **fields):
        PLANE.kubectl("apply", "-f", "-", stdin=json.dumps(
            {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": self.space}, **fields}))

    def policy(self, name, mode="Enforce", damping="Enabled", **strategies):
        self.apply("TASPolicy", name, "telemetry.intel.com/v1alpha1", spec={
            "mode": mode, "herdDamping": damping, "strategies": {kind: {"rules": rules} for kind, rules in strategies.items()}})

        def judged():
            """This version of it, and not one of before."""
            made = json.loads(PLANE.request("GET", f"/apis/telemetry.intel.com/v1alpha1/namespaces/{self.space}/taspolicies/{name}")[1])
            return made.get("status", {}).get("observedGeneration") == made["metadata"]["generation"]
        PLANE.wait_for(f"the policy {name} to be judged", judged, 60)

    def deploy(self, name, replicas, scheduler="binnacle-scheduler", avoids=None):
        self.apply("Deployment", name, "apps/v1", spec={"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                                                        "template": pod_template(name, scheduler, avoids or {name: "violating"})})

    def scale(self, name, replicas):
        PLANE.kubectl("scale", "deployment", name, f"--replicas={replicas}", "-n", self.space)

    def labels(self, node):
        return json.loads(PLANE.request("GET", f"/api/v1/nodes/{node}")[1])["metadata"]["labels"]

    def until_label(self, node, key, value):
        """None: until it is gone."""
        PLANE.wait_for(f"{key}={value} on {node}", lambda: self.labels(node).get(key) == value, 60)

    def pods(self):
        return self.get("pods")["items"]

    def places(self):
        """How many pods each node has."""
        return collections.Counter(p["spec"]["nodeName"] for p in self.pods() if "nodeName" in p["spec"])

    def until_placed(self, number, seconds=60):
        PLANE.wait_for(f"{number} pods with a node", lambda: sum(self.places().values()) == number, seconds)
        return self.places()

    def until_value(self, metric, **values):
        """Until the aggregator knows them: whole numbers by node."""
        def shown():
            return {item["describedObject"]["name"]: item["value"] for item in self.trial.metric(metric)}
        self.trial.wait_for(f"{metric} {values}", lambda: {n: str(v) for n, v in values.items()}.items() <= shown().items(), 60)

    def heat(self, **watts):
        """Packages at so many watts, until the ten-second mean of TAS's old name is on the right side of 30 W."""
        for node, w in watts.items():
            self.trial.heat(node, w)

        def settled():
            means = {i["describedObject"]["name"]: i["value"] for i in self.trial.metric("collectd_package_0_power_power")}
            return all(n in means and (decimal(means[n]) > 30) == (w > 30) for n, w in watts.items())
        self.trial.wait_for(f"the means of {watts}", settled, 90)

    def test_demo_1_a_pod_lands_on_the_only_node_that_passes(self):
        self.policy("power-policy", dontschedule=[rule("collectd_package_0_power_power", "GreaterThan", 30)])
        self.heat(cold=10, cool=80, warm=90)
        self.addCleanup(self.heat, cold=10, cool=10, warm=10)
        self.deploy("power-policy", 1)
        self.assertEqual(self.until_placed(1), {"cold": 1})
        with self.subTest("and becomes Ready there"):
            PLANE.wait_for("Ready", lambda: any(c["type"] == "Ready" and c["status"] == "True" for p in self.pods()
                                                for c in p["status"].get("conditions", [])), 60)
        name = self.pods()[0]["metadata"]["name"]
        with self.subTest("binnacle why says of its pod why not elsewhere"):
            said = self.trial.cli("why", f"{self.space}/{name}")
            self.assertIn("collectd_package_0_power_power GreaterThan 30", said.stdout, said.stderr)
        with self.subTest("and so does kubectl, of which it is a plug-in"):
            plugins = self.trial.folder / "plugins"
            plugins.mkdir()
            (plugins / "kubectl-binnacle").symlink_to(BUILD.absolute() / "cli/binnacle")
            said = subprocess.run([PLANE.programs["kubectl"], "binnacle", "why", f"pod/{name}"], capture_output=True, text=True, timeout=60, check=False,
                                  env={**os.environ, **self.trial.cli_environment(), "PATH": f"{plugins}:{os.environ['PATH']}"})
            self.assertIn("collectd_package_0_power_power GreaterThan 30", said.stdout, said.stderr)
        with self.subTest("kubectl describe shows policy and rule when no node passes"):
            self.heat(cold=80)
            self.scale("power-policy", 2)
            text = f"policy {self.space}/power-policy: collectd_package_0_power_power GreaterThan 30 (dontschedule)"

            def event():
                waiting = [p["metadata"]["name"] for p in self.pods() if "nodeName" not in p["spec"]]
                return waiting and text in PLANE.kubectl("describe", "pod", waiting[0], "-n", self.space)
            PLANE.wait_for("the FailedScheduling event", event, 60)

    def test_demo_1_goes_on_the_node_is_heated_the_descheduler_evicts_and_the_pod_moves(self):
        self.policy("hot-policy", dontschedule=[rule("collectd_package_0_power_power", "GreaterThan", 30)],
                    deschedule=[rule("collectd_package_0_power_power", "GreaterThan", 30)])
        self.addCleanup(self.heat, cold=10, cool=10, warm=10)
        self.heat(cold=10, cool=80, warm=90)
        self.deploy("hot-policy", 1)
        self.assertEqual(self.until_placed(1), {"cold": 1})
        self.until_label("cool", "hot-policy", "violating")
        self.assertNotIn("hot-policy", self.labels("cold"))
        self.heat(cold=80, cool=10)
        self.until_label("cold", "hot-policy", "violating")
        self.until_label("cool", "hot-policy", None)
        self.assertIn("Evicted pod", PLANE.deschedule(EVICT))
        PLANE.wait_for("the pod to move", lambda: self.places() == {"cool": 1}, 60)

    def test_pods_that_were_refused_are_woken_when_a_node_recovers(self):
        self.policy("wake-policy", dontschedule=[rule("health_metric", "Equals", 1)])
        self.addCleanup(lambda: [self.numbers(node, health_metric=0) for node in NODES])
        for node in NODES:
            self.numbers(node, health_metric=1)
        self.until_value("health_metric", cold=1, cool=1, warm=1)
        self.deploy("wake-policy", 3)
        PLANE.wait_for("the refusals", lambda: len([p for p in self.pods() for c in p["status"].get("conditions", [])
                                                   if c.get("reason") == "Unschedulable"]) == 3, 60)
        self.numbers("cool", health_metric=0)
        recovered = time.monotonic()
        # Unwoken, they would wait for kube-scheduler's five minutes.
        self.assertEqual(self.until_placed(3, 120), {"cool": 3})
        print(f"\nfrom the recovered number until the three pods have their node: {time.monotonic() - recovered:.2f} s (a sample a second; "
              "what is left of the scheduler's own back-off of 1 to 10 s is in it)", file=sys.stderr)

    def test_the_labeling_demo(self):
        def cards(**both):
            for node, (card0, card1) in both.items():
                self.numbers(node, health_metric=0, metric_card0=card0, metric_card1=card1)
            for i in (0, 1):
                self.until_value(f"metric_card{i}", **{node: values[i] for node, values in both.items()})
        self.addCleanup(lambda: [self.numbers(node, health_metric=0) for node in NODES])
        prefix = "telemetry.aware.scheduling.labeling-policy"
        self.policy("labeling-policy", labeling=[dict(rule("metric_card0", "GreaterThan", 100), labels=["card0=true"]),
                                                 dict(rule("metric_card1", "GreaterThan", 200), labels=["card1=true"])])
        cards(cold=(200, 0), cool=(0, 90), warm=(900, 900))
        self.until_label("cold", f"{prefix}/card0", "true")
        self.until_label("warm", f"{prefix}/card1", "true")
        self.deploy("labeling-policy", 5, avoids={f"{prefix}/card{i}": "true" for i in (0, 1)})
        self.assertEqual(self.until_placed(5), {"cool": 5})
        cards(cold=(100, 0))  # not above: strictly compared
        self.until_label("cold", f"{prefix}/card0", None)
        cards(cool=(0, 900))
        self.until_label("cool", f"{prefix}/card1", "true")
        self.scale("labeling-policy", 8)
        self.assertEqual(self.until_placed(8), {"cool": 5, "cold": 3})
        PLANE.deschedule(EVICT)
        PLANE.wait_for("all pods to move", lambda: self.places() == {"cold": 8}, 60)

    def test_the_health_metric_demo(self):
        self.policy("demo-policy", deschedule=[rule("health_metric", "Equals", 2)], dontschedule=[rule("health_metric", "Equals", 1), rule("health_metric", "Equals", 2)],
                    scheduleonmetric=[rule("health_metric", "LessThan")])
        self.addCleanup(lambda: [self.numbers(node, health_metric=0) for node in NODES])
        self.deploy("demo-policy", 1)
        first = next(iter(self.until_placed(1)))
        sick, other = [n for n in NODES if n != first]
        self.numbers(sick, health_metric=1)
        self.until_value("health_metric", **{sick: 1})
        self.scale("demo-policy", 6)
        self.assertNotIn(sick, self.until_placed(6))
        self.numbers(other, health_metric=2)
        self.until_value("health_metric", **{other: 2})
        self.scale("demo-policy", 12)
        before = self.places()[other]
        self.assertEqual(self.until_placed(12)[other], before)
        with self.subTest("the descheduler empties the node at 2, which gets pods again at 0"):
            self.until_label(other, "demo-policy", "violating")
            PLANE.deschedule(EVICT)
            PLANE.wait_for("all pods to move", lambda: self.places() == {first: 12}, 60)
            self.numbers(other, health_metric=0)
            self.until_label(other, "demo-policy", None)
            self.scale("demo-policy", 30)
            self.assertGreater(self.until_placed(30)[other], 0)

    def test_the_preferred_node_wins_though_everything_else_speaks_for_another(self):
        # platform-aware-scheduling 111: "warm" is better by one point of ten, and full.
        self.policy("prefer", damping="Disabled", scheduleonmetric=[rule("load_metric", "LessThan")])
        self.addCleanup(lambda: [self.numbers(node, health_metric=0) for node in NODES])
        for node, load in (("warm", 100), ("cool", 190), ("cold", 900)):
            self.numbers(node, health_metric=0, load_metric=load)
        self.until_value("load_metric", warm=100, cool=190, cold=900)
        self.apply("Pod", "ballast", spec={"nodeName": "warm", "containers": [
            {"name": "app", "image": "app", "resources": {"requests": {"cpu": "30", "memory": "8Gi"}}}]})
        self.addCleanup(PLANE.kubectl, "delete", "pod", "ballast", "-n", self.space, "--grace-period=0", "--force")
        self.deploy("prefer", 3)
        self.assertEqual(self.until_placed(4), {"warm": 4})
        with self.subTest("as it did not with TAS's weight"):
            self.start_scheduler("weak-scheduler", "--weight", "1")
            self.addCleanup(PLANE.end, "weak-scheduler")
            PLANE.kubectl("delete", "deployment", "prefer", "-n", self.space)
            PLANE.wait_for("its end", lambda: sum(self.places().values()) == 1, 60)
            self.deploy("prefer", 3, "weak-scheduler")
            placed = self.until_placed(4)
            # Mostly to "cool". But the other plug-ins may like "cold" as well, so only this is sure.
            self.assertLess(placed["warm"], 4, placed)

    def test_a_hundred_pods_at_once_do_not_all_go_to_the_coolest_node(self):
        self.addCleanup(lambda: [self.numbers(node, health_metric=0) for node in NODES])
        for node, load in (("cold", 100), ("cool", 140), ("warm", 200)):
            self.numbers(node, health_metric=0, load_metric=load)
        self.until_value("load_metric", cold=100, cool=140, warm=200)
        self.policy("herd", scheduleonmetric=[rule("load_metric", "LessThan")])
        self.deploy("herd", 100)
        damped = self.until_placed(100, 120)
        self.assertLess(damped["cold"], 70, damped)
        self.assertGreater(damped["cold"], damped["warm"], damped)
        self.assertGreater(damped["warm"], 0, damped)
        said = self.trial.cli("why", "--all", "--limit", "200", f"{self.space}/", "-o", "json")
        crowds = [n.get("crowd", 0) for d in json.loads(said.stdout)["decisions"] for n in d["nodes"]]
        self.assertGreater(max(crowds), 0)
        with self.subTest("unless the policy says so"):
            PLANE.kubectl("delete", "deployment", "herd", "-n", self.space)
            PLANE.wait_for("its end", lambda: not self.places(), 120)
            self.policy("herd", damping="Disabled", scheduleonmetric=[rule("load_metric", "LessThan")])
            self.deploy("herd", 100)
            self.assertEqual(self.until_placed(100, 120), {"cold": 100})

    def test_a_pod_of_high_priority_evicts_nobody_where_its_policy_refuses_it(self):
        self.policy("urgent", dontschedule=[rule("health_metric", "Equals", 1)])
        PLANE.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 1000})
        self.addCleanup(PLANE.kubectl, "delete", "priorityclass", "urgent")
        self.addCleanup(lambda: [self.numbers(node, health_metric=0) for node in NODES])
        for node in ("cool", "warm"):
            self.numbers(node, health_metric=1)
        self.until_value("health_metric", cold=0, cool=1, warm=1)
        # On "cold" two pods must go to make room, elsewhere one: kube-scheduler itself would choose another node.
        self.addCleanup(PLANE.kubectl, "delete", "pods", "--all", "-n", self.space, "--grace-period=0", "--force")
        for name, node, cpu in [(f"low-cold-{i}", "cold", "10") for i in range(3)] + [("low-cool", "cool", "30"), ("low-warm", "warm", "30")]:
            self.apply("Pod", name, spec={"nodeName": node, "terminationGracePeriodSeconds": 0, "containers": [
                {"name": "app", "image": "app", "resources": {"requests": {"cpu": cpu}}}]})
        before = {p["metadata"]["name"]: p["metadata"]["uid"] for p in self.pods()}

        made = pod_template("urgent", "binnacle-scheduler", {"urgent": "violating"})
        made["spec"]["priorityClassName"] = "urgent"
        made["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "20"}
        self.apply("Pod", "urgent", metadata={"name": "urgent", "namespace": self.space, **made["metadata"]}, spec=made["spec"])
        PLANE.wait_for("the pod's node", lambda: "nodeName" in self.get("pods/urgent")["spec"], 60)
        self.assertEqual(self.get("pods/urgent")["spec"]["nodeName"], "cold")
        after = {p["metadata"]["name"]: p["metadata"]["uid"] for p in self.pods()}
        for name in ("low-cool", "low-warm"):
            self.assertEqual(after.get(name), before[name], after)
        self.assertEqual(len([name for name in after if name.startswith("low-cold-")]), 1, after)
        said = self.trial.cli("why", f"{self.space}/urgent")
        self.assertIn("kube-scheduler may evict pods at 1 of 3 full nodes", said.stdout, said.stderr)

    def test_scheduler_config_verifies_the_scheduler_that_runs(self):
        file = PLANE.folder / "binnacle-scheduler.json"
        said = self.trial.cli("scheduler-config", "--verify", file)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        text = " ".join(said.stdout.split())
        self.assertIn("answers a filter call with the scheduler's certificate", text)
        self.assertIn("manages telemetry/scheduling", text)
        self.assertNotIn("preemptVerb", text)
        wrong = json.loads(file.read_text())
        wrong["extenders"][0]["tlsConfig"]["caFile"] = str(self.trial.pki / "agents-ca.crt")
        wrong["extenders"][0]["managedResources"][0]["ignoredByScheduler"] = False
        (PLANE.folder / "wrong.json").write_text(json.dumps(wrong))
        said = self.trial.cli("scheduler-config", "--verify", PLANE.folder / "wrong.json", "-o", "json")
        self.assertEqual(said.returncode, 1)
        failures = [f for f in json.loads(said.stdout)["findings"] if f["grade"] == "failure"]
        self.assertTrue(any("not in the authority file" in f["sentence"] for f in failures), failures)
        self.assertTrue(any("ignoredByScheduler" in f["sentence"] and f["remedy"] for f in failures), failures)


if __name__ == "__main__":
    run_tests()
