"""The chart where things happen in another order: secrets before the release, namespaces deleted before it; and a quota beside it. The commands are those of
its README.

With the controller manager, which ends namespaces and minds quotas. Run by scripts/test --cluster, or by hand:
python3 tests/cluster/chart_order_test.py --build build [TestName]
"""

import json
import unittest

from support import releases
from support.releases import CHART, everything_of, helm, readme_commands, run_commands, there
from trial import run_tests

PLANE = None
SPACES = ("binnacle", "binnacle-agents")
EXISTING = [word for name, secret in (("server", "servers"), ("agent", "trust"), ("client", "callers"))
            for word in ("--set", f"certificates.existing.{name}={secret}")]


def setUpModule():
    global PLANE
    PLANE, _ = releases.begin_plane()
    PLANE.start_controller_manager()


def until_gone(*spaces):
    for space in spaces:
        PLANE.wait_for(f"namespace {space} to end", lambda: not there("namespace", space), 120)


class SecretsFirst(unittest.TestCase):
    def tearDown(self):
        PLANE.kubectl("delete", "crd", "taspolicies.telemetry.intel.com", "--ignore-not-found")
        PLANE.kubectl("delete", "namespace", *SPACES, "--ignore-not-found", "--wait=false")
        until_gone(*SPACES)

    def test_a_release_takes_the_namespaces_and_secrets_that_are_there_and_leaves_them(self):
        run_commands(readme_commands("**Your own secrets.**"))
        secrets = {"servers": "binnacle", "callers": "binnacle", "trust": "binnacle-agents"}
        for name, namespace in secrets.items():
            PLANE.kubectl("create", "secret", "generic", name, "--from-literal=ca.crt=x", "-n", namespace)
        yours = ("--set", "certificates.mode=existing", *EXISTING, "--set-string", "certificates.existing.serverCA=-----BEGIN CERTIFICATE-----\n")
        with self.assertRaisesRegex(AssertionError, 'Namespace "binnacle-agents" in namespace "" exists and cannot be imported'):
            helm("install", "binnacle", CHART, *yours)
        helm("install", "binnacle", CHART, *yours, "--set", "agent.namespace.create=false")
        template = there("daemonset", "binnacle-agent", "binnacle-agents")["spec"]["template"]
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "as-the-controller-makes-it", "namespace": "binnacle-agents"}, "spec": template["spec"]}
        said = PLANE.kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(pod))
        self.assertNotIn("violate", said)
        helm("uninstall", "binnacle")
        for name, namespace in secrets.items():
            self.assertTrue(there("secret", name, namespace), name)

    def test_a_namespace_that_the_chart_made_can_be_made_yours(self):
        helm("install", "binnacle", CHART, "--create-namespace")
        PLANE.kubectl("annotate", "namespace", "binnacle-agents", "helm.sh/resource-policy=keep")
        helm("upgrade", "binnacle", CHART, "--set", "agent.namespace.create=false")
        self.assertNotIn("deletionTimestamp", there("namespace", "binnacle-agents")["metadata"])
        helm("uninstall", "binnacle")
        self.assertNotIn("deletionTimestamp", there("namespace", "binnacle-agents")["metadata"])


class NamespacesFirst(unittest.TestCase):
    def test_the_readme_s_commands_leave_nothing_of_a_release_whose_namespaces_were_deleted(self):
        helm("install", "binnacle", CHART, "--create-namespace", "--set", "descheduler.enabled=true")
        # As an aggregator leaves nodes that violate two policies and one, a node that it woke, and one that it never touched; "yours" is a user's.
        nodes = {"both": ({"hot": "violating", "busy": "violating", "binnacle/wake": "3", "yours": "1"}, "busy,hot"), "one": ({"hot": "violating"}, "hot"),
                 "woken": ({"binnacle/wake": "1", "hot": "yours"}, None), "other": ({"yours": "1"}, None)}
        for name, (labels, listed) in nodes.items():
            PLANE.apply({"apiVersion": "v1", "kind": "Node", "metadata": {
                "name": name, "labels": labels, "annotations": {"binnacle/labels": listed} if listed else {}}})
        PLANE.kubectl("delete", "namespace", *SPACES, "--wait=false")

        def stuck():
            conditions = there("namespace", "binnacle")["status"].get("conditions", [])
            return any(c["type"] == "NamespaceDeletionDiscoveryFailure" and c["status"] == "True" for c in conditions)
        PLANE.wait_for("the namespace to wait for an APIService that leads nowhere", stuck, 120)
        run_commands(readme_commands("**If you deleted the namespaces first**"))
        until_gone(*SPACES)
        self.assertEqual(everything_of("binnacle"), [])
        for version in ("v1beta1", "v1beta2"):
            self.assertFalse(there("apiservice", f"{version}.custom.metrics.k8s.io"))
        left = {name: there("node", name)["metadata"] for name in nodes}
        self.assertEqual({name: meta.get("labels", {}) for name, meta in left.items()}, {"both": {"yours": "1"}, "one": {}, "woken": {"hot": "yours"}, "other": {"yours": "1"}})
        self.assertEqual([name for name, meta in left.items() if "binnacle/labels" in meta.get("annotations", {})], [])


class Tenants(unittest.TestCase):
    def test_the_readme_s_quota_keeps_a_tenant_s_pods_from_the_chart_s_priority_class(self):
        helm("install", "binnacle", CHART, "--create-namespace")
        self.addCleanup(helm, "uninstall", "binnacle")
        PLANE.kubectl("create", "namespace", "team")
        PLANE.wait_for("the namespace's service account", lambda: there("serviceaccount", "default", "team"), 60)

        def create(**spec):
            return PLANE.request("POST", "/api/v1/namespaces/team/pods?dryRun=All", {
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec | {"containers": [{"name": "a", "image": "a"}]}})
        code, text = create(priorityClassName="binnacle")
        self.assertEqual(code, 201, text)
        self.assertEqual(json.loads(text)["spec"]["priority"], 100000000)
        run_commands(readme_commands("**The priority class.**").replace("TENANT", "team"))
        PLANE.wait_for("the quota in force", lambda: "exceeded quota: no-binnacle-priority" in create(priorityClassName="binnacle")[1], 60)
        self.assertEqual(create(priorityClassName="binnacle")[0], 403)
        code, text = create()
        self.assertEqual(code, 201, text)


if __name__ == "__main__":
    run_tests(__doc__)
