"""The chart's pods at work: as the API server stored them, with the accounts, tokens, certificates and configurations that helm made. The aggregator,
agents, kube-scheduler and the descheduler are the real programs, and so are the tests that "helm test" runs.

Without a kubelet: support/kubelet.py starts their containers. Run by scripts/test --cluster, or by hand:
python3 tests/cluster/chart_pods_test.py --build build [TestName]
"""

import base64
import json
import os
import sys
import unittest

import yaml

from support.control_plane import KUBERNETES, ROOT, Certificates, ControlPlane, program
from support.kubelet import Kubelet
from support.service import Service
from trial import Failure, free_port, run_tests

sys.path.insert(0, str(ROOT / "tests" / "chart"))
from rendered import CHART, Helm  # noqa: E402  (the path comes first)

BUILD = ROOT / "build"
PLANE = KUBELET = HELM = None
NODES = {"cool": 40, "warm": 40}
# An address of our own for the service: its ports are fixed, and other tests may run on this machine.
SERVICE = f"127.1.{os.getpid() // 250 % 250}.{os.getpid() % 250 + 2}"
FACES = {"extender": 9001, "ops": 9102, "metrics": 443, "ingest": 9110}
PORTS = {face: free_port() for face in (*FACES, "health")}  # where the aggregator listens
# A machine under load answers late, and an ignorable extender is then left out.
VALUES = ("--set", "scheduler.timeout=30s", "--set", "scheduler.ignorable=false", "--set", "descheduler.enabled=true",
          "--set", "agent.textfileDirectory=/var/lib/numbers", "--set", "aggregator.replicas=1")


def setUpModule():
    global PLANE, KUBELET, HELM
    HELM = Helm(program("helm", "helm"))
    PLANE = ControlPlane()
    unittest.addModuleCleanup(PLANE.stop)
    PLANE.begin()
    programs = {name: BUILD / path / name for path, name in (("agent", "binnacle-agent"), ("aggregator", "binnacle-aggregator"), ("cli", "binnacle"))}
    programs |= {"kube-scheduler": program(KUBERNETES, "kube-scheduler"), "descheduler": program("descheduler", "descheduler")}
    KUBELET = Kubelet(PLANE, programs, {f"binnacle{more}.binnacle.svc": SERVICE for more in ("", "-ingest", "-replicas")})
    for node in NODES:
        PLANE.add_node(node)
    PLANE.kubectl("taint", "nodes", "--all", "node.kubernetes.io/not-ready-")  # a controller's work elsewhere, as below
    helm("install", "binnacle", CHART, "--create-namespace", *VALUES)
    for namespace in ("binnacle", "binnacle-agents", "default"):
        PLANE.kubectl("create", "configmap", "kube-root-ca.crt", f"--from-file=ca.crt={PLANE.pki / 'ca.crt'}", "-n", namespace)
        PLANE.kubectl("create", "serviceaccount", "default", "-n", namespace)
    for face, port in FACES.items():
        unittest.addModuleCleanup(Service(PORTS[face], at=(SERVICE, port)).stop)
    PLANE.add_endpoint("binnacle", "binnacle", PORTS["metrics"])
    start_all()


def start_all():
    """The aggregator, which is ready when agents have come to it, and an agent on each node."""
    aggregator = make_pod("deployment", "binnacle-aggregator", "binnacle", "cool")
    KUBELET.start("binnacle", aggregator, more=[f"--{face}-port={port}" for face, port in PORTS.items()])
    for node, heat in NODES.items():
        numbers(node, heat)
        pod, port = make_pod("daemonset", "binnacle-agent", "binnacle-agents", node), free_port()
        run("binnacle-agents", pod, {"health": port}, [f"--health=127.0.0.1:{port}", f"--listen=127.0.0.1:{free_port()}"])
    until_ready("binnacle", aggregator, {"health": PORTS["health"]})


def helm(*words):
    said = HELM.run(*words, "--kubeconfig", PLANE.kubeconfig, "--namespace", "binnacle")
    assert said.returncode == 0, said.stderr
    return said.stdout


def make_pod(kind, name, namespace, node):
    """A pod of a workload, as its controller and the scheduler make it; its name."""
    template = json.loads(PLANE.kubectl("get", kind, name, "-n", namespace, "-o", "json"))["spec"]["template"]
    pod = f"{name}-{node}"
    end_pod(namespace, pod)
    PLANE.apply({"apiVersion": "v1", "kind": "Pod", "metadata": dict(template["metadata"], name=pod, namespace=namespace),
                 "spec": dict(template["spec"], nodeName=node)})
    return pod


def end_pod(namespace, pod):
    """One of before, if there is any."""
    if pod in PLANE.processes:
        PLANE.end(pod)
    PLANE.kubectl("delete", "pod", pod, "-n", namespace, "--ignore-not-found", "--force", "--grace-period=0")


def run(namespace, pod, ports, flags):
    """Until it is ready."""
    KUBELET.start(namespace, pod, more=flags)
    until_ready(namespace, pod, ports)


def until_ready(namespace, pod, ports):
    PLANE.wait_for(f"{pod} to answer its probes", lambda: KUBELET.is_ready(namespace, pod, ports), 120)


def run_kubernetes(name, *flags):
    """A pod of one of Kubernetes' own programs in our chart; its name."""
    pod, port = make_pod("deployment", name, "binnacle", "cool"), free_port()
    run("binnacle", pod, {"health": port}, ["--bind-address=127.0.0.1", f"--secure-port={port}", *flags])
    return pod


def numbers(node, heat):
    folder = KUBELET.disk(node, "/var/lib/numbers")
    (folder / "new").write_text(f"heat {heat}\n")
    (folder / "new").rename(folder / "heat.prom")


def pod_of(policy, name):
    """A pod that asks for our scheduler, and leaves a node that its policy labels."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {
                "name": name, "namespace": "default", "labels": {"telemetry-policy": policy},
                # The descheduler evicts only what somebody would make again.
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "app", "uid": "7c1f2c9e-6d0b-4a51-9a39-0f6f1f9b1d11"}]},
            "spec": {"schedulerName": "binnacle-scheduler", "terminationGracePeriodSeconds": 0,
                     "containers": [{"name": "app", "image": "app", "resources": {"limits": {"telemetry/scheduling": "0"}}}],
                     "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": {
                         "matchExpressions": [{"key": policy, "operator": "NotIn", "values": ["violating"]}]}}]}}}}


def get(path):
    code, text = PLANE.request("GET", path)
    return json.loads(text) if code == 200 else None


class HelmTest(unittest.TestCase):
    def assert_helm_s_tests_pass(self):
        hooks = [h for h in yaml.safe_load_all(helm("get", "hooks", "binnacle")) if h]
        for pod in ("binnacle-test-doctor", "binnacle-test-sensors"):
            end_pod("binnacle", pod)
        PLANE.apply(*sorted(hooks, key=lambda h: h["kind"] == "Pod"))
        pods = [h["metadata"]["name"] for h in hooks if h["kind"] == "Pod"]
        self.assertEqual(sorted(pods), ["binnacle-test-doctor", "binnacle-test-sensors"])
        for pod in pods:
            with self.subTest(pod):
                # The API server asks an aggregated API in its own time whether it is there.
                said = []

                def passes():
                    said.append(KUBELET.run("binnacle", pod))
                    return said[-1][0] == 0
                try:
                    PLANE.wait_for(f"{pod} to pass", passes, 120)
                except Failure:
                    self.fail(said[-1][1])


class Pods(HelmTest):
    def forbidden(self, pod):
        return [line for line in PLANE.log(pod).splitlines() if "forbidden" in line.lower()]

    def test_1_helm_s_tests_pass(self):
        self.assert_helm_s_tests_pass()

    def test_2_a_pod_lands_where_its_policy_lets_it_and_is_evicted_when_that_changes(self):
        rules = {"rules": [{"metricname": "heat", "operator": "GreaterThan", "target": 50, "staleAfter": "10m"}]}
        PLANE.apply({"apiVersion": "telemetry.intel.com/v1alpha1", "kind": "TASPolicy", "metadata": {"name": "no-heat", "namespace": "default"},
                     "spec": {"strategies": {"dontschedule": rules, "deschedule": rules}}})
        numbers("warm", 60)
        self.until_violating("warm")
        scheduler = run_kubernetes("binnacle-scheduler")
        names = [f"app-{number}" for number in range(4)]
        PLANE.apply(*[pod_of("no-heat", name) for name in names])
        with self.subTest("all go to the node that is cool"):
            PLANE.wait_for("the pods to be scheduled", lambda: all(self.node_of(name) for name in names), 120)
            self.assertEqual([self.node_of(name) for name in names], ["cool"] * 4)
            self.assertEqual(self.forbidden(scheduler), [])
        with self.subTest("they leave it when it gets hot"):
            numbers("warm", 40)
            self.until_violating()
            numbers("cool", 60)
            self.until_violating("cool")
            descheduler = run_kubernetes("binnacle-descheduler", "--v=2")
            PLANE.wait_for("their eviction", lambda: not any(self.node_of(name) for name in names), 180)
            self.assertEqual(self.forbidden(descheduler), [])

    def node_of(self, name):
        pod = get(f"/api/v1/namespaces/default/pods/{name}")
        return pod["spec"].get("nodeName") if pod and "deletionTimestamp" not in pod["metadata"] else None

    def until_violating(self, *wanted):
        def labelled():
            nodes = get("/api/v1/nodes")["items"]
            return sorted(n["metadata"]["name"] for n in nodes if n["metadata"].get("labels", {}).get("no-heat") == "violating")
        PLANE.wait_for(f"the label on {wanted}", lambda: labelled() == sorted(wanted), 120)


class PodsWithCertManager(HelmTest):
    """The same release, with secrets as cert-manager fills them: ca.crt is the CA of the certificate's own issuer, and each has another. Source:
    cert-manager's documentation, "CA" and "Certificate resource"."""

    def test_everybody_is_believed_by_whom_he_calls(self):
        issuers = {name: Certificates(PLANE.pki, f"{name}-issuer") for name in ("server", "agent", "client")}

        def authority(name):
            return f"--from-file=ca.crt={issuers[name].path(f'{name}-issuer')}"
        PLANE.kubectl("create", "secret", "generic", "servers", authority("server"), "-n", "binnacle-agents")
        PLANE.kubectl("create", "secret", "generic", "trust", *[authority(name).replace("ca.crt", f"{name}s-ca.crt", 1) for name in ("agent", "client")], "-n", "binnacle")
        self.make_kind()
        helm("upgrade", "binnacle", CHART, *VALUES, "--set", "agent.identity=certificate", "--set", "agent.sharedCertificate=true", "--set", f"certificates.nodes={{{','.join(NODES)}}}",
             "--set", "certificates.mode=certManager", "--set", "certificates.certManager.trustSecret=trust",
             "--set", "certificates.certManager.agentTrustSecret=servers",
             *(word for name in issuers for word in ("--set", f"certificates.certManager.{name}Issuer.name={name}")))
        certificates = json.loads(PLANE.kubectl("get", "certificates.cert-manager.io", "-A", "-o", "json"))["items"]
        self.assertEqual(len(certificates), 4)
        for certificate in certificates:
            self.issue(certificate["metadata"]["namespace"], certificate["spec"], issuers[certificate["spec"]["issuerRef"]["name"]])
        # What cert-manager injects into the APIServices.
        bundle = base64.b64encode(issuers["server"].path("server-issuer").read_bytes()).decode()
        for version in ("v1beta1", "v1beta2"):
            PLANE.kubectl("patch", "apiservice", f"{version}.custom.metrics.k8s.io", "--type=merge", "-p", json.dumps({"spec": {"caBundle": bundle}}))
        start_all()
        self.assert_helm_s_tests_pass()
        run_kubernetes("binnacle-scheduler")
        PLANE.apply(pod_of("nothing", "asks"))  # scheduled only if the extender answers
        PLANE.wait_for("a decision", lambda: "nodeName" in get("/api/v1/namespaces/default/pods/asks")["spec"], 120)

    @staticmethod
    def make_kind():
        """Certificate objects are only stored here."""
        PLANE.apply({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "certificates.cert-manager.io"},
                     "spec": {"group": "cert-manager.io", "scope": "Namespaced", "names": {"kind": "Certificate", "plural": "certificates"},
                              "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                                  "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}})
        PLANE.until_established("certificates.cert-manager.io")

    @staticmethod
    def issue(namespace, spec, issuer):
        name = spec["secretName"]
        usages = ",".join({"server auth": "serverAuth", "client auth": "clientAuth"}[u] for u in spec["usages"] if u.endswith(" auth"))
        issuer.issue(name, f"/CN={spec.get('commonName', '')}", usages, spec["dnsNames"])
        files = {"tls.crt": issuer.path(name), "tls.key": issuer.path(name, "key"), "ca.crt": issuer.path(issuer.name)}
        PLANE.kubectl("create", "secret", "generic", name, "--type=kubernetes.io/tls", *[f"--from-file={key}={path}" for key, path in files.items()], "-n", namespace)


if __name__ == "__main__":
    run_tests(__doc__)
