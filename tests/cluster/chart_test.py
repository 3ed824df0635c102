"""The chart on a real API server, by helm itself: installed, upgraded, rolled back and uninstalled; and what its roles let the real aggregator do.

There is no kubelet and no controller here: objects are stored and checked, pods do not start. Run by scripts/test --cluster, or by hand:
python3 tests/cluster/chart_test.py --build build [TestName]
"""

import argparse
import base64
import json
import pathlib
import subprocess
import sys
import unittest

from control_plane import ROOT, ControlPlane, own_address, program
from trial import Trial, free_port

sys.path.insert(0, str(ROOT / "tests" / "chart"))
from chart_test import MATRIX  # noqa: E402  (the path comes first)
from rendered import CHART, Helm  # noqa: E402

BUILD = ROOT / "build"
PLANE = HELM = None
# The way in which certificates of agents have to follow the cluster's nodes; agents_test.py has the other.
BY_CERTIFICATE = ("--set", "agent.identity=certificate")
# Kinds of operators that this cluster does not have.
FOREIGN = {"Certificate", "PodMonitor", "ServiceMonitor", "PrometheusRule", "SecurityContextConstraints"}


def setUpModule():
    global PLANE, HELM
    HELM = Helm(program("helm", "helm"))
    PLANE = ControlPlane()
    unittest.addModuleCleanup(PLANE.stop)
    PLANE.begin()
    for name in ("node1", "node2"):
        add_node(name)


def add_node(name):
    PLANE.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}))


def helm(*words):
    said = subprocess.run([HELM.program, *map(str, words), "--kubeconfig", str(PLANE.kubeconfig), "--namespace", "binnacle"],
                          capture_output=True, text=True, timeout=180)
    if said.returncode:
        raise AssertionError(f"helm {words[0]}: {said.stderr}")
    return said.stdout


def there(kind, name, namespace=None):
    words = ["get", kind, name, "-o", "json", "--ignore-not-found", *(["-n", namespace] if namespace else [])]
    return json.loads(PLANE.kubectl(*words) or "null")


def certificates():
    """(server, agent, authority of agents), as PEM."""
    def part(namespace, name, key):
        return base64.b64decode(there("secret", f"binnacle-{name}", namespace)["data"][key]).decode()
    return part("binnacle", "server", "tls.crt"), part("binnacle-agents", "agent", "tls.crt"), part("binnacle", "server", "agents-ca.crt")


def names_in(pem):
    said = subprocess.run(["openssl", "x509", "-noout", "-ext", "subjectAltName"], input=pem, capture_output=True, text=True, timeout=20, check=True)
    return set(said.stdout.split("\n", 1)[1].replace("DNS:", "").replace(",", " ").split())


class Manifests(unittest.TestCase):
    def test_the_api_server_takes_every_rendering_strictly(self):
        # Server-side: defaults, validation and unknown fields are the API server's own.
        for namespace in ("strict", "strict-agents"):
            PLANE.kubectl("create", "namespace", namespace)
            PLANE.kubectl("create", "serviceaccount", "default", "-n", namespace)  # a controller's work elsewhere
        PLANE.kubectl("create", "serviceaccount", "binnacle-test-doctor", "-n", "strict")  # bare pods must find theirs
        PLANE.install_crd()
        for name, values in MATRIX.items():
            with self.subTest(name):
                objects = [o for o in HELM.template(values).all if o["kind"] not in FOREIGN]
                text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
                # Nothing is stored in a dry run, the chart's namespaces neither.
                text = text.replace('"namespace": "binnacle"', '"namespace": "strict"').replace('"namespace": "binnacle-agents"', '"namespace": "strict-agents"')
                PLANE.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=text)


class Life(unittest.TestCase):
    def test_install_upgrade_rollback_uninstall(self):
        helm("install", "binnacle", CHART, "--create-namespace", *BY_CERTIFICATE)
        server, agent, authority = certificates()
        self.assertEqual(names_in(agent), {"node1", "node2"})
        self.assertIn("binnacle-ingest.binnacle.svc", names_in(server))
        api = there("apiservice", "v1beta2.custom.metrics.k8s.io")
        self.assertEqual(api["spec"]["caBundle"], there("secret", "binnacle-server", "binnacle")["data"]["ca.crt"])
        self.assertTrue(there("daemonset", "binnacle-agent", "binnacle-agents"))

        with self.subTest("an upgrade keeps the certificates"):
            helm("upgrade", "binnacle", CHART, "--set", "aggregator.replicas=3", *BY_CERTIFICATE)
            self.assertEqual(certificates(), (server, agent, authority))
            self.assertEqual(there("deployment", "binnacle-aggregator", "binnacle")["spec"]["replicas"], 3)
        with self.subTest("a node that came later is named at the next one, by the same authority"):
            add_node("node3")
            helm("upgrade", "binnacle", CHART, "--set", "aggregator.replicas=3", *BY_CERTIFICATE)
            self.assertEqual(names_in(certificates()[1]), {"node1", "node2", "node3"})
            self.assertEqual((certificates()[0], certificates()[2]), (server, authority))
        with self.subTest("a rollback goes back"):
            helm("rollback", "binnacle", "1")
            self.assertEqual(there("deployment", "binnacle-aggregator", "binnacle")["spec"]["replicas"], 2)
        with self.subTest("the aggregator's role lets it follow policies, write their status, label nodes and lead"):
            self.aggregator_works_with_its_role()
        with self.subTest("the API server passes on what the chart's certificates let through"):
            self.custom_metrics_come_through_the_api_server()
        with self.subTest("nothing but the CRD stays"):
            helm("uninstall", "binnacle")
            self.assertTrue(there("crd", "taspolicies.telemetry.intel.com"))
            self.assertFalse(there("apiservice", "v1beta1.custom.metrics.k8s.io"))
            left = self.everything_of_ours()
            # Without a controller manager nothing finishes the namespace's end, and what was in it.
            self.assertEqual([o for o in left if "deletionTimestamp" not in o["metadata"]], [])

    def custom_metrics_come_through_the_api_server(self):
        """The real programs with the chart's secrets, as the endpoint of the chart's service: what NOTES.txt tells to try."""
        trial = Trial(BUILD)
        self.addCleanup(trial.stop)
        pki = trial.folder / "chart"
        for which, namespace in (("server", "binnacle"), ("agent", "binnacle-agents")):
            (pki / which).mkdir(parents=True)
            for key, value in there("secret", f"binnacle-{which}", namespace)["data"].items():
                (pki / which / key).write_bytes(base64.b64decode(value))
        ports = {face: free_port() for face in ("ingest", "extender", "metrics", "ops", "health")}
        trial.start("aggregator", BUILD / "aggregator/binnacle-aggregator", "--kube-config", PLANE.kubeconfig, "--cert", pki / "server/tls.crt",
                    "--key", pki / "server/tls.key", "--agents-ca", pki / "server/agents-ca.crt", "--clients-ca", pki / "server/clients-ca.crt",
                    *(word for face, port in ports.items() for word in (f"--{face}-port", port)))
        trial.start("agent", BUILD / "agent/binnacle-agent", "--node-name", "node2", "--aggregator", f"127.0.0.1:{ports['ingest']}",
                    "--server-name", "binnacle-ingest.binnacle.svc", "--cert", pki / "agent/tls.crt", "--key", pki / "agent/tls.key",
                    "--ca", pki / "agent/ca.crt", "--sources", "os", "--listen", "")
        service = there("service", "binnacle", "binnacle")
        PLANE.kubectl("apply", "-f", "-", stdin=json.dumps({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": {"name": "binnacle-by-hand", "namespace": "binnacle", "labels": {"kubernetes.io/service-name": "binnacle",
                                                                                        "app.kubernetes.io/part-of": "binnacle"}},
            "endpoints": [{"addresses": [own_address()], "conditions": {"ready": True}}],
            "ports": [{"name": service["spec"]["ports"][0]["name"], "port": ports["metrics"], "protocol": "TCP"}]}))
        path = "/apis/custom.metrics.k8s.io/v1beta2/nodes/*/os_memory_available_bytes"
        trial.wait_for("the node's memory through the API server", lambda: "node2" in PLANE.kubectl("get", "--raw", path, check=False)[1], 60)
        self.assertEqual(PLANE.kubectl("get", "apiservice", "v1beta2.custom.metrics.k8s.io", "-o",
                                       'jsonpath={.status.conditions[?(@.type=="Available")].status}').strip(), "True")
        PLANE.kubectl("delete", "endpointslice", "binnacle-by-hand", "-n", "binnacle")

    def everything_of_ours(self):
        kinds = PLANE.kubectl("api-resources", "--verbs=list", "-o", "name").split()
        kinds = [k for k in kinds if k != "customresourcedefinitions.apiextensions.k8s.io" and not k.startswith("events")]
        said = PLANE.kubectl("get", ",".join(kinds), "--all-namespaces", "-l", "app.kubernetes.io/part-of=binnacle", "-o", "json")
        return json.loads(said[said.index("\n{") if said.startswith("Warning") else 0:])["items"]  # some kinds come with a warning

    def aggregator_works_with_its_role(self):
        token = PLANE.kubectl("create", "token", "binnacle-aggregator", "-n", "binnacle").strip()
        kubeconfig = PLANE.write_kubeconfig("binnacle-aggregator", token=token)
        access = json.loads(kubeconfig.read_text())
        access["contexts"][0]["context"]["namespace"] = "binnacle"  # as in a pod of the release
        kubeconfig.write_text(json.dumps(access))
        trial = Trial(BUILD)
        self.addCleanup(trial.stop)
        trial.make_certificates(["node1"])
        trial.start_aggregator("--kube-config", kubeconfig)
        policy = {"apiVersion": "telemetry.intel.com/v1alpha1", "kind": "TASPolicy", "metadata": {"name": "p", "namespace": "default"},
                  "spec": {"strategies": {"dontschedule": {"rules": [{"metricname": "rapl_power_watts", "operator": "GreaterThan", "target": 1}]}}}}
        PLANE.kubectl("apply", "-f", "-", stdin=json.dumps(policy))
        PLANE.kubectl("label", "node", "node1", "gone=violating")
        PLANE.kubectl("annotate", "node", "node1", "binnacle/labels=gone")
        trial.wait_for("the policy", lambda: json.loads(trial.ask("ops", "/api/v1/policies")[1])["policies"])
        trial.wait_for("the policy's status", lambda: there("taspolicy", "p", "default").get("status", {}).get("conditions"), 60)
        trial.wait_for("an event about it", lambda: json.loads(PLANE.kubectl("get", "events.events.k8s.io", "-n", "default", "-o", "json"))["items"], 60)
        self.assertTrue(there("lease", "binnacle-aggregator", "binnacle"))
        trial.wait_for("a label of ours that no policy gives to be taken off", lambda: "gone" not in there("node", "node1")["metadata"].get("labels", {}), 60)
        refused = [line for line in trial.log("aggregator").splitlines() if "forbidden" in line.lower() or " 403" in line]
        self.assertEqual(refused, [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    arguments, rest = parser.parse_known_args()
    BUILD = arguments.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
