"""The parts of aggregator/kube against a real API server, one by one (binnacle-kube-probe): labels, tokens, rights, events, the Lease.

Run by scripts/test --cluster, or by hand: meson compile -C build binnacle-kube-probe, then python3 tests/cluster/client_test.py --build build [TestName]
"""

import json
import signal
import subprocess
import time
import unittest

from support.control_plane import ROOT, ControlPlane
from trial import run_tests

BUILD = ROOT / "build"
PLANE = None


def setUpModule():
    global PLANE
    PLANE = ControlPlane()
    unittest.addModuleCleanup(PLANE.stop)
    PLANE.begin()
    PLANE.kubectl("create", "namespace", "ops")


class Client(unittest.TestCase):
    def probe(self, *words, kubeconfig=None, status=0):
        done = subprocess.run([BUILD / "tests/cluster/binnacle-kube-probe", kubeconfig or PLANE.kubeconfig, *[str(word) for word in words]],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout.strip()

    def make_node(self, name, labels=None):
        PLANE.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels or {}}}))

    def labels(self, node):
        return json.loads(PLANE.kubectl("get", "node", node, "-o", "json"))["metadata"].get("labels", {})

    def test_every_form_of_kubeconfig_speaks_to_the_server(self):
        PLANE.kubectl("create", "serviceaccount", "robot", "-n", "ops")
        token = PLANE.kubectl("create", "token", "robot", "-n", "ops").strip()
        (PLANE.folder / "token").write_text(token)
        plugin = PLANE.folder / "plugin"
        plugin.write_text('#!/bin/sh\nprintf \'{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s"}}\' '
                          f'"$(cat {PLANE.folder}/token)"\n')
        plugin.chmod(0o700)
        exec_plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin), "interactiveMode": "Never"}
        cert, key = ((PLANE.pki / f"admin.{kind}").read_text() for kind in ("crt", "key"))
        speaking = PLANE.folder / "speaking"
        speaking.write_text("#!/bin/sh\ncat <<'E'\n" + json.dumps({
            "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
            "status": {"clientCertificateData": cert, "clientKeyData": key, "expirationTimestamp": "2099-01-01T00:00:00Z"}}) + "\nE\n")
        speaking.chmod(0o700)
        forms = {"inline": ({}, True, "admin"), "files": ({}, False, "admin"), "token": ({"token": token}, True, "ops:robot"),
                 "tokenFile": ({"tokenFile": str(PLANE.folder / "token")}, True, "ops:robot"), "exec token": ({"exec": exec_plugin}, True, "ops:robot"),
                 "exec certificate": ({"exec": dict(exec_plugin, command=str(speaking))}, True, "admin")}
        for name, (fields, inline, who) in forms.items():
            with self.subTest(name):
                config = PLANE.write_kubeconfig("admin", PLANE.folder / "tried.kubeconfig", inline, **fields)
                self.assertTrue(self.probe("get", "/version", kubeconfig=config).startswith("200 "))
                # Who may read secrets, and who is told not to, tells who asked.
                secrets = self.probe("get", "/api/v1/secrets", kubeconfig=config)
                self.assertTrue(secrets.startswith("200 " if who == "admin" else "403 "), secrets)
                if who != "admin":
                    self.assertIn("system:serviceaccount:ops:robot", secrets)

    def test_the_doctor_tells_what_the_cluster_lacks(self):
        def look():
            done = subprocess.run([BUILD / "cli/binnacle", "doctor", "kubernetes", "clocks", "--kube-config", PLANE.kubeconfig, "--timeout", "60", "-o", "json"],
                                  capture_output=True, text=True, timeout=300, check=False)
            return done.returncode, [(f["grade"], f["sentence"]) for f in json.loads(done.stdout)["findings"]]

        def found(grade, part, all_of_them):
            self.assertTrue(any(g == grade and part in s for g, s in all_of_them), (grade, part, all_of_them))
        PLANE.kubectl("delete", "crd", "taspolicies.telemetry.intel.com", "--ignore-not-found")
        status, said = look()
        self.assertEqual(status, 1)
        found("ok", "answers, Kubernetes v1.", said)
        found("ok", "agrees with ours", said)
        found("failure", "CRD is not installed", said)
        found("warning", "v1beta2.custom.metrics.k8s.io is not registered", said)
        PLANE.install_crd()
        # An APIService whose Service does not exist.
        PLANE.kubectl("apply", "-f", "-", stdin=json.dumps({
            "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1beta2.custom.metrics.k8s.io"},
            "spec": {"group": "custom.metrics.k8s.io", "version": "v1beta2", "groupPriorityMinimum": 100, "versionPriority": 100,
                     "insecureSkipTLSVerify": True, "service": {"namespace": "ops", "name": "binnacle"}}}))
        PLANE.wait_for("the API server's verdict", lambda: any("is not available" in s for _, s in look()[1]), 60)
        status, said = look()
        self.assertEqual(status, 1)
        found("ok", "the CRD of TASPolicy is established", said)
        found("failure", "v1beta2.custom.metrics.k8s.io is not available: ServiceNotFound", said)
        PLANE.kubectl("delete", "apiservice", "v1beta2.custom.metrics.k8s.io")

    def test_a_server_whose_certificate_is_another_s_is_refused(self):
        config = json.loads(PLANE.kubeconfig.read_text())
        config["clusters"][0]["cluster"]["tls-server-name"] = "elsewhere.example"
        other = PLANE.folder / "other.kubeconfig"
        other.write_text(json.dumps(config))
        self.assertIn("elsewhere.example", self.probe("get", "/version", kubeconfig=other, status=1))

    def test_a_patch_touches_its_own_labels_and_makes_no_node(self):
        self.make_node("n1", {"mine": "stays", "old": "1"})
        self.probe("label", "n1", "telemetry.aware.scheduling.p/heat=high", "old-", "never-there-")
        self.assertEqual(self.labels("n1"), {"mine": "stays", "telemetry.aware.scheduling.p/heat": "high"})
        self.assertIn("404", self.probe("label", "gone", "a=b", status=1))
        self.assertNotIn("gone", PLANE.kubectl("get", "nodes"))

    def test_a_token_is_its_holder_s_with_the_right_audience_only(self):
        PLANE.kubectl("create", "serviceaccount", "agent", "-n", "ops")
        token = PLANE.kubectl("create", "token", "agent", "-n", "ops", "--audience", "binnacle").strip()
        self.assertEqual(self.probe("who", token, "binnacle"), "system:serviceaccount:ops:agent node=")
        self.assertTrue(self.probe("who", token).startswith("nobody"))
        self.assertTrue(self.probe("who", token, "another").startswith("nobody"))
        self.assertTrue(self.probe("who", token[:-3] + "abc", "binnacle").startswith("nobody"))
        self.assertTrue(self.probe("who", "nonsense", "binnacle").startswith("nobody"))

    def test_a_token_of_a_pod_names_its_node(self):
        self.make_node("n2")
        PLANE.kubectl("create", "serviceaccount", "bound", "-n", "ops")
        PLANE.kubectl("apply", "-f", "-", stdin=json.dumps({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "agent-n2", "namespace": "ops"},
            "spec": {"nodeName": "n2", "serviceAccountName": "bound", "automountServiceAccountToken": False, "containers": [{"name": "a", "image": "a"}]}}))
        token = PLANE.kubectl("create", "token", "bound", "-n", "ops", "--audience", "binnacle", "--bound-object-kind", "Pod",
                              "--bound-object-name", "agent-n2").strip()
        self.assertEqual(self.probe("who", token, "binnacle"), "system:serviceaccount:ops:bound node=n2")

    def test_rights_are_what_rbac_says(self):
        PLANE.kubectl("create", "clusterrole", "metrics-reader", "--verb=get", "--resource=nodes.custom.metrics.k8s.io", check=False)
        PLANE.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "metrics"},
            "rules": [{"apiGroups": ["custom.metrics.k8s.io"], "resources": ["*"], "verbs": ["get"]}]})
        PLANE.kubectl("create", "clusterrolebinding", "metrics", "--clusterrole=metrics", "--user=ann")
        deadline = time.monotonic() + 20  # the authorizer follows RBAC objects by watches of its own
        while self.probe("may", "ann", "get", "custom.metrics.k8s.io", "nodes") != "yes" and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assertEqual(self.probe("may", "ann", "get", "custom.metrics.k8s.io", "nodes"), "yes")
        self.assertEqual(self.probe("may", "bob", "get", "custom.metrics.k8s.io", "nodes"), "no")
        self.assertEqual(self.probe("may", "ann", "get", "", "secrets", "ops"), "no")

    def test_events_are_shown_and_counted(self):
        self.make_node("n3")
        uid = json.loads(PLANE.kubectl("get", "node", "n3", "-o", "json"))["metadata"]["uid"]
        self.probe("tell", "Node", "v1", "", "n3", uid, "PolicyViolated", "violates ops/power", 2)
        events = json.loads(PLANE.kubectl("get", "events.events.k8s.io", "-n", "default", "-o", "json"))["items"]
        mine = [e for e in events if e["regarding"]["name"] == "n3"]
        self.assertEqual(len(mine), 1)
        self.assertEqual(mine[0]["series"]["count"], 2)
        self.assertIn("violates ops/power", PLANE.kubectl("describe", "node", "n3"))

    # The Lease

    def candidate(self, identity):
        name = f"candidate-{identity}"
        PLANE.start(name, BUILD / "tests/cluster/binnacle-kube-probe", PLANE.kubeconfig, "lead", "ops", identity)
        self.addCleanup(lambda: PLANE.processes.get(name) and PLANE.end(name, signal.SIGKILL))
        return name

    def until_said(self, name, words, seconds):
        began = time.monotonic()
        PLANE.wait_for(f"{name} to say {words}", lambda: PLANE.log(name).splitlines()[-1:] == [words], seconds)
        return time.monotonic() - began

    def test_one_leads_the_other_follows_and_a_dead_one_is_followed_within_20_seconds(self):
        first = self.candidate("first")
        self.until_said(first, "leads", 10)
        second = self.candidate("second")
        self.until_said(second, "waits for first", 10)
        time.sleep(6)
        self.assertEqual(PLANE.log(first).splitlines()[-1], "leads")
        PLANE.end(first, signal.SIGKILL)
        took = self.until_said(second, "leads", 25)
        self.assertLess(took, 20.5)
        lease = json.loads(PLANE.kubectl("get", "lease", "binnacle-aggregator", "-n", "ops", "-o", "json"))["spec"]
        self.assertEqual(lease["holderIdentity"], "second")
        self.assertEqual(lease["leaseTransitions"], 1)
        third = self.candidate("third")
        self.until_said(third, "waits for second", 10)
        PLANE.end(second, signal.SIGTERM)  # gives it back
        self.assertLess(self.until_said(third, "leads", 10), 6)
        PLANE.end(third, signal.SIGTERM)


if __name__ == "__main__":
    run_tests()
