"""Custom metrics through a real aggregation layer: the real aggregator as an aggregated API server, with an agent's data; who may ask what.

Run by scripts/test --cluster, or by hand: python3 tests/cluster/custom_metrics_test.py --build build [TestName]
"""

import base64
import http.client
import json
import signal
import ssl
import unittest

from support.control_plane import ROOT, Certificates, ControlPlane
from trial import Trial, run_tests

BUILD = ROOT / "build"
PLANE = TRIAL = None
GROUP = "/apis/custom.metrics.k8s.io"
BASE = f"{GROUP}/v1beta2"
POWER = f"{BASE}/nodes/%2A/health_metric"
VERSIONS = ("v1beta1", "v1beta2")


def setUpModule():
    global PLANE, TRIAL
    PLANE = ControlPlane()
    unittest.addModuleCleanup(PLANE.stop)
    PLANE.begin()
    PLANE.install_crd()
    TRIAL = Trial(BUILD)
    unittest.addModuleCleanup(TRIAL.stop)
    TRIAL.make_certificates(["n1"], ["binnacle.binnacle.svc"])
    kubeconfig = PLANE.aggregators_kubeconfig()
    PLANE.serve("binnacle", "binnacle", TRIAL.ports["metrics"])
    TRIAL.start_aggregator("--kube-config", kubeconfig, address="0.0.0.0")
    folder = TRIAL.folder / "textfile"
    folder.mkdir()
    (folder / "demo.prom").write_text("health_metric 41.02\n")
    TRIAL.start_agent("n1", "--sources", "textfile", "--textfile-directory", folder)
    TRIAL.wait_for("the metric", lambda: TRIAL.metric("health_metric"))
    register(PLANE, TRIAL)


def register(plane, trial):
    """Both APIServices, with the authority that signed the aggregator's certificate; until they are available."""
    plane.apply(*[{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": f"{version}.custom.metrics.k8s.io"},
                   "spec": {"group": "custom.metrics.k8s.io", "version": version, "groupPriorityMinimum": 100, "versionPriority": 100 * (i + 1),
                            "service": {"name": "binnacle", "namespace": "binnacle", "port": 443},
                            "caBundle": base64.b64encode((trial.pki / "server-ca.crt").read_bytes()).decode()}}
                  for i, version in enumerate(VERSIONS)])
    until_available(plane, trial)


def until_available(plane, trial):
    path = 'jsonpath={.status.conditions[?(@.type=="Available")].status}'
    trial.wait_for("both versions to be available", lambda: all(
        plane.kubectl("get", "apiservice", f"{version}.custom.metrics.k8s.io", "-o", path).strip() == "True" for version in VERSIONS), 120)


def reader(name, rule):
    """A service account with this right."""
    PLANE.kubectl("create", "serviceaccount", name)
    PLANE.apply({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": [rule]})
    PLANE.kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", f"--serviceaccount=default:{name}")
    return PLANE.token(name)


METRICS_RULE = {"apiGroups": ["custom.metrics.k8s.io"], "resources": ["*"], "verbs": ["get"]}


def ask(path, face="metrics", bearer=None, certificate=None, headers=None):
    """(status, text) of the aggregator itself; `certificate`: PEM file without its ending."""
    context = ssl.create_default_context(cafile=str(TRIAL.pki / "server-ca.crt"))
    if certificate:
        context.load_cert_chain(f"{certificate}.crt", f"{certificate}.key")
    connection = http.client.HTTPSConnection("localhost", TRIAL.ports[face], context=context, timeout=20)
    try:
        connection.request("GET", path, headers={**(headers or {}), **({"Authorization": f"Bearer {bearer}"} if bearer else {})})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


class Layer(unittest.TestCase):
    """Asked through kube-apiserver."""

    def test_kubectl_finds_both_versions_and_their_resources(self):
        for version in VERSIONS:
            listed = json.loads(PLANE.kubectl("get", "--raw", f"{GROUP}/{version}"))
            self.assertIn("nodes/health_metric", [r["name"] for r in listed["resources"]])
        group = json.loads(PLANE.kubectl("get", "--raw", GROUP))
        self.assertEqual(group["preferredVersion"]["version"], "v1beta2")
        named = PLANE.kubectl("api-resources", "--api-group=custom.metrics.k8s.io", "-o", "name")
        self.assertNotIn("error", named.lower())
        accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        context = ssl.create_default_context(cafile=str(PLANE.pki / "ca.crt"))
        context.load_cert_chain(PLANE.pki / "admin.crt", PLANE.pki / "admin.key")
        connection = http.client.HTTPSConnection("127.0.0.1", PLANE.port, context=context, timeout=20)
        self.addCleanup(connection.close)

        def aggregated():
            connection.request("GET", "/apis", headers={"Accept": accept})
            groups = json.loads(connection.getresponse().read())["items"]
            mine = [g for g in groups if g["metadata"]["name"] == "custom.metrics.k8s.io"]
            return mine and {v["version"]: v for v in mine[0]["versions"]}
        found = TRIAL.wait_for("aggregated discovery to have our metrics", lambda: (a := aggregated()) and all(
            v in a and a[v]["freshness"] == "Current" and any(s["subresource"] == "health_metric" for r in a[v]["resources"] for s in r["subresources"])
            for v in VERSIONS) and a, 90)
        self.assertEqual(set(found), set(VERSIONS))

    def test_an_administrator_reads_values_and_somebody_without_the_right_does_not(self):
        items = json.loads(PLANE.kubectl("get", "--raw", POWER))["items"]
        self.assertEqual([(i["describedObject"]["name"], i["value"]) for i in items], [("n1", "41020m")])
        status, text = PLANE.kubectl("get", "--raw", POWER, "--as", "nobody-special", check=False)
        self.assertNotEqual(status, 0)
        self.assertIn("forbidden", text.lower())

    def test_nodes_are_chosen_by_the_labels_of_their_objects(self):
        PLANE.add_node("n1", **{"topology.kubernetes.io/zone": "east"})

        def chosen(selector):
            items = json.loads(PLANE.kubectl("get", "--raw", f"{POWER}?labelSelector={selector}"))["items"]
            return [i["describedObject"]["name"] for i in items]
        TRIAL.wait_for("the label", lambda: chosen("topology.kubernetes.io%2Fzone%3Deast") == ["n1"], 60)
        self.assertEqual(chosen("topology.kubernetes.io%2Fzone%3Dwest"), [])
        self.assertEqual(chosen("topology.kubernetes.io%2Fzone,kubernetes.io%2Fhostname%3Dn1"), ["n1"])

    def test_a_pod_has_its_node_s_value(self):
        for name, node, app in (("a", "n1", "web"), ("b", "n1", "db"), ("c", "n2", "web")):
            PLANE.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "binnacle", "labels": {"app": app}},
                         "spec": {"nodeName": node, "serviceAccountName": "aggregator", "automountServiceAccountToken": False, "containers": [{"name": "x", "image": "x"}]}})
        path = f"{BASE}/namespaces/binnacle/pods/%2A/health_metric?labelSelector=app%3Dweb"

        def items():
            return json.loads(PLANE.kubectl("get", "--raw", path))["items"]
        TRIAL.wait_for("the pod", items, 60)
        self.assertEqual([(i["describedObject"]["kind"], i["describedObject"]["name"], i["value"]) for i in items()], [("Pod", "a", "41020m")])

    def test_the_api_server_joins_our_openapi_with_its_own_and_has_nothing_to_complain_of(self):
        def joined():
            index = json.loads(PLANE.kubectl("get", "--raw", "/openapi/v3"))["paths"]
            return all(f"apis/custom.metrics.k8s.io/{v}" in index for v in VERSIONS) and index
        index = TRIAL.wait_for("our OpenAPI in the API server's", joined, 90)
        document = json.loads(PLANE.kubectl("get", "--raw", index["apis/custom.metrics.k8s.io/v1beta2"]["serverRelativeURL"]))
        self.assertIn(f"{BASE}/nodes/{{node}}/{{metric}}", document["paths"])
        TRIAL.wait_for("version 2 of it", lambda: "custom_metrics.v1beta2.MetricValueList" in PLANE.kubectl("get", "--raw", "/openapi/v2"), 90)
        # It probes each version five times in thirty seconds, and asks for OpenAPI and discovery once a minute: this is more than one round.
        since, before = len(PLANE.log("kube-apiserver")), self.requests()
        TRIAL.wait_for("more than a minute of the API server's questions", lambda: self.requests() >= before + 35, 240)
        said = [line for line in PLANE.log("kube-apiserver")[since:].splitlines() if "custom.metrics" in line and line[:1] in "EW"]
        self.assertEqual(said, [])

    def requests(self):
        line = next(line for line in TRIAL.ask("ops", "/metrics")[1].splitlines() if line.startswith('binnacle_http_requests_total{server="custom metrics"'))
        return int(line.split()[-1])


class Callers(unittest.TestCase):
    """Asked directly: the aggregator must not rely on the API server having looked before."""

    def test_a_service_account_with_the_right_reads_and_another_is_forbidden(self):
        may = reader("hpa-like", METRICS_RULE)
        TRIAL.wait_for("the right", lambda: ask(POWER, bearer=may)[0] == 200, 30)  # RBAC is followed, and a no remembered
        self.assertEqual(json.loads(ask(POWER, bearer=may)[1])["items"][0]["value"], "41020m")
        PLANE.kubectl("create", "serviceaccount", "plain")
        status, text = ask(POWER, bearer=PLANE.token("plain"))
        self.assertEqual(status, 403)
        said = json.loads(text)
        self.assertEqual((said["kind"], said["reason"]), ("Status", "Forbidden"))
        self.assertIn('User "system:serviceaccount:default:plain" cannot get resource "nodes/health_metric"', said["message"])
        self.assertEqual(ask(GROUP, bearer=PLANE.token("plain"))[0], 200)  # discovery is everybody's who is known

    def test_who_is_nobody_is_told_so(self):
        PLANE.kubectl("create", "serviceaccount", "elsewhere")
        for bearer in (None, "nonsense", PLANE.token("elsewhere", "default", "--audience", "vault")):
            status, text = ask(POWER, bearer=bearer)
            self.assertEqual((status, json.loads(text)["reason"]), (401, "Unauthorized"), text)
        self.assertEqual(ask("/readyz")[0], 200)
        self.assertEqual(ask(GROUP)[0], 401)

    def test_a_forged_header_without_the_front_proxy_s_certificate_is_nobody_s_word(self):
        forged = {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"}
        self.assertEqual(ask(POWER, headers=forged)[0], 401)
        PLANE.authority.issue("bob", "/O=dev/CN=bob", "clientAuth")
        status, text = ask(POWER, certificate=PLANE.pki / "bob", headers=forged)
        self.assertEqual(status, 403)
        self.assertIn('User "bob"', json.loads(text)["message"])
        PLANE.front_proxy.issue("impostor", "/CN=impostor", "clientAuth")
        status, text = ask(POWER, certificate=PLANE.pki / "impostor", headers=forged)
        self.assertEqual(status, 401)
        self.assertIn("requestheader-allowed-names", text)

    def test_the_front_proxy_speaks_for_whom_it_names(self):
        proxy = PLANE.pki / "front-proxy-client"
        self.assertEqual(ask(POWER, certificate=proxy, headers={"X-Remote-User": "x", "X-Remote-Group": "system:masters"})[0], 200)
        status, text = ask(POWER, certificate=proxy, headers={"X-Remote-User": "eve", "X-Remote-Group": "dev"})
        self.assertEqual(status, 403)
        self.assertIn('User "eve"', json.loads(text)["message"])
        self.assertEqual(ask(POWER, certificate=proxy)[0], 401)

    def test_certificates_of_the_cluster_s_and_of_our_own_authority(self):
        self.assertEqual(ask(POWER, certificate=PLANE.pki / "admin")[0], 200)  # system:masters
        self.assertEqual(ask(POWER, certificate=TRIAL.pki / "client-cli")[0], 200)

    def test_a_new_authority_of_the_front_proxy_counts_without_a_restart(self):
        newer = Certificates(PLANE.pki, "front-proxy-ca-2")
        newer.issue("front-proxy-client-2", "/CN=front-proxy-client", "clientAuth")
        master = {"X-Remote-User": "x", "X-Remote-Group": "system:masters"}
        self.assertEqual(ask(POWER, certificate=PLANE.pki / "front-proxy-client-2", headers=master)[0], 401)
        both = (PLANE.pki / "front-proxy-ca.crt").read_text() + (PLANE.pki / "front-proxy-ca-2.crt").read_text()
        PLANE.kubectl("patch", "configmap", "extension-apiserver-authentication", "-n", "kube-system", "--type=merge", "-p",
                      json.dumps({"data": {"requestheader-client-ca-file": both}}))
        TRIAL.wait_for("the new authority", lambda: ask(POWER, certificate=PLANE.pki / "front-proxy-client-2", headers=master)[0] == 200, 30)
        self.assertEqual(ask(POWER, certificate=PLANE.pki / "front-proxy-client", headers=master)[0], 200)

    def test_the_ops_face_takes_tokens_with_a_right_to_its_path(self):
        may = reader("prometheus-like", {"nonResourceURLs": ["/metrics"], "verbs": ["get"]})
        TRIAL.wait_for("the right", lambda: ask("/metrics", "ops", bearer=may)[0] == 200, 30)
        status, text = ask("/api/v1/status", "ops", bearer=may)
        self.assertEqual(status, 403)
        self.assertIn('cannot get path "/binnacle/api/v1/status"', json.loads(text)["error"])
        self.assertEqual(ask("/metrics", "ops")[0], 401)
        self.assertEqual(ask("/metrics", "ops", certificate=TRIAL.pki / "client-cli")[0], 200)
        self.assertIn('binnacle_callers_total{outcome="forbidden"}', ask("/metrics", "ops", bearer=may)[1])


class Trouble(unittest.TestCase):
    def test_without_the_api_server_who_needs_it_is_told_so_and_others_are_served(self):
        may = reader("outage", METRICS_RULE)
        TRIAL.wait_for("the right", lambda: ask(POWER, bearer=may)[0] == 200, 30)
        other = PLANE.token("outage")
        PLANE.end("kube-apiserver", signal.SIGKILL)
        try:
            status, text = ask(POWER, bearer=other)
            self.assertEqual((status, json.loads(text)["reason"]), (503, "ServiceUnavailable"), text)
            self.assertEqual(ask(POWER, certificate=TRIAL.pki / "client-cli")[0], 200)
        finally:
            PLANE.start_api_server()
        TRIAL.wait_for("the token to count again", lambda: ask(POWER, bearer=other)[0] == 200, 60)
        until_available(PLANE, TRIAL)


if __name__ == "__main__":
    run_tests()
