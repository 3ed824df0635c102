"""The chart's presets on real nodes, with stand-ins for what a cloud or OpenShift would do: a load balancer whose address the nodes route, and an
admission that gives pods of a namespace a user of its own range.

Run by scripts/test --kubelet, or by hand: python3 tests/kubelet/presets_test.py [TestName]
"""

import json
import re
import unittest

import namespaces
import releases
from nodes import IS_OLD, ROOT
from trial import run_tests

BUILD = ROOT / "build"
PRESETS = releases.CHART / "presets"
LAB = None
OUTSIDE = "203.0.113.7"  # the load balancer's, of a range for documentation
RANGE = 1000650000  # as OpenShift writes them on namespaces


def setUpModule():
    global LAB
    LAB = releases.begin_nodes()
    LAB.kubectl("create", "namespace", "binnacle")


def crd(group, version, kind, plural, scope="Namespaced"):
    """A kind that another product brings, without its schema."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": scope, "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
                     "versions": [{"name": version, "served": True, "storage": True, "schema": schema}]}}


OPENSHIFT = (crd("security.openshift.io", "v1", "SecurityContextConstraints", "securitycontextconstraints", "Cluster"),
             crd("monitoring.coreos.com", "v1", "PodMonitor", "podmonitors"), crd("monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors"),
             crd("monitoring.coreos.com", "v1", "PrometheusRule", "prometheusrules"))


def range_of_users():
    """As "restricted-v2" does it: a pod of that namespace runs as a user that no image knows."""
    name = "range-of-users"
    context = f"Object.spec.securityContext{{runAsUser: {RANGE}, fsGroup: {RANGE}}}"
    rules = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    api = {"apiVersion": "admissionregistration.k8s.io/v1"}
    return (api | {"kind": "MutatingAdmissionPolicy", "metadata": {"name": name}, "spec": {
        "failurePolicy": "Fail", "reinvocationPolicy": "Never", "matchConstraints": {"resourceRules": [rules]},
        "mutations": [{"patchType": "ApplyConfiguration",
                       "applyConfiguration": {"expression": f"Object{{spec: Object.spec{{securityContext: {context}}}}}"}}]}},
            api | {"kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": name}, "spec": {
                "policyName": name, "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "binnacle"}}}}})


def all_is_well():
    everyone = releases.agents(LAB) + releases.pods(LAB, "aggregator") + releases.pods(LAB, "scheduler")
    return len(everyone) == 5 and all(map(releases.is_ready, everyone)) and set(releases.metric(LAB, "os_load1")) == {"n1", "n2"}


def replicas_met(pod):
    meta = pod["metadata"]
    return set(re.findall(r"connected to replica (\S+)", LAB.kubectl("logs", "-n", meta["namespace"], meta["name"])))


class Presets(unittest.TestCase):
    def uninstall(self):
        LAB.helm("uninstall", "binnacle", "--wait", "--timeout", "5m", check=False)
        LAB.wait_for("the agents' namespace to go", lambda: not LAB.get("namespace", "binnacle-agents"), 180)

    def install(self, preset, *more):
        self.addCleanup(self.uninstall)
        LAB.helm("install", "binnacle", releases.CHART, "--create-namespace", "-f", PRESETS / f"{preset}.yaml", *releases.VALUES, *more)

    def wait_until_all_is_well(self):
        LAB.wait_for("all pods to be ready, and values of both nodes", all_is_well, 420)
        self.assertIn("Phase:          Succeeded", LAB.helm("test", "binnacle", "--logs"))
        self.assertEqual({pod: count for pod, count in releases.restarts(LAB).items() if count}, {})

    # By the command of REMOTE-WORKERS.md; kube-proxy does what a load balancer does: it picks a replica for each connection.
    def test_remote_workers_meet_all_replicas_at_a_load_balancer_s_one_address(self):
        self.install("remote-workers", "--set", f"aggregator.extraNames={{{OUTSIDE}}}", "--set", f"agent.aggregators={{{OUTSIDE}:9110}}")
        LAB.kubectl("patch", "service", "binnacle-ingest", "-n", "binnacle", "--subresource=status", "--type=merge", "-p",
                    json.dumps({"status": {"loadBalancer": {"ingress": [{"ip": OUTSIDE}]}}}))
        LAB.wait_for("two links of each agent", lambda: len(releases.agents(LAB)) == 2 and all(
            len(replicas_met(pod)) == 2 for pod in releases.agents(LAB) if releases.is_ready(pod)) and all_is_well(), 420)
        self.wait_until_all_is_well()

    @unittest.skipIf(IS_OLD, "1.30 has no MutatingAdmissionPolicy, which stands in for OpenShift's admission")
    def test_openshift_s_pods_run_as_a_user_of_the_namespace_s_range(self):
        code, said = LAB.helm("install", "binnacle", releases.CHART, "--create-namespace", "-f", PRESETS / "openshift.yaml", check=False)
        self.assertNotEqual(code, 0, "a cluster that is not OpenShift took it")
        self.assertIn("SecurityContextConstraints", said)
        LAB.apply(*OPENSHIFT)
        LAB.until_established()
        LAB.apply(*range_of_users())
        LAB.wait_for("that admission", self.gives_users, 60)
        self.install("openshift")
        self.wait_until_all_is_well()
        for pod in releases.pods(LAB, "aggregator") + releases.pods(LAB, "scheduler"):
            node, number = releases.process(LAB, pod)
            users = re.search(r"^Uid:\s+(\d+)", LAB.on_node(node, "cat", f"/proc/{number}/status"), re.MULTILINE)[1]
            self.assertEqual(users, str(RANGE), pod["metadata"]["name"])

    @staticmethod
    def gives_users():
        """A policy is in force some time after it was written."""
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "asks", "namespace": "binnacle"},
               "spec": {"containers": [{"name": "a", "image": "localhost/app:latest"}]}}
        code, text = LAB.request("POST", "/api/v1/namespaces/binnacle/pods?dryRun=All", pod)
        return code == 201 and json.loads(text)["spec"]["securityContext"].get("runAsUser") == RANGE


if __name__ == "__main__":
    namespaces.enter_tests()
    run_tests(__doc__)
