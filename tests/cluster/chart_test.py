"""The chart on a real API server, by helm itself: installed, upgraded, rolled back and uninstalled; and what its roles let the real aggregator do.

There is no kubelet and no controller here: objects are stored and checked, pods do not start. Run by scripts/test --cluster, or by hand:
python3 tests/cluster/chart_test.py --build build [TestName]
"""

import base64
import contextlib
import gzip
import json
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

import yaml

from support import releases
from support.control_plane import IS_OLD, ROOT
from support.releases import CHART, everything_of, helm, there
from trial import Trial, free_ports, run_tests

from matrix import MATRIX  # in tests/chart, as releases has seen to

BUILD = ROOT / "build"
PLANE = HELM = None
# The way in which certificates of agents have to follow the cluster's nodes; agents_test.py has the other.
BY_CERTIFICATE = ("--set", "agent.identity=certificate")
# Kinds of operators that this cluster does not have.
FOREIGN = {"Certificate", "PodMonitor", "ServiceMonitor", "PrometheusRule", "Route", "SecurityContextConstraints"}


def setUpModule():
    global PLANE, HELM
    PLANE, HELM = releases.begin_plane()
    for name in ("node1", "node2"):
        add_node(name)


def add_node(name):
    PLANE.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}))


def certificates():
    """(server, agent, authorities of agents), as PEM."""
    def part(namespace, name, key):
        return base64.b64decode(there("secret", f"binnacle-{name}", namespace)["data"][key]).decode()
    return part("binnacle", "server", "tls.crt"), part("binnacle-agents", "agent", "tls.crt"), part("binnacle", "server", "agents-ca.crt")


def each_of(bundle):
    """The certificates of a PEM text, the newest authority first."""
    return re.findall("-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----", bundle)


def written_by(release, namespace):
    """What helm keeps of a release, whatever it is for: the text that its secrets hold."""
    found = json.loads(PLANE.kubectl("get", "secrets", "-n", namespace, "-l", f"owner=helm,name={release}", "-o", "json"))["items"]
    return [gzip.decompress(base64.b64decode(base64.b64decode(o["data"]["release"]))).decode() for o in found]


def names_in(pem):
    said = subprocess.run(["openssl", "x509", "-noout", "-ext", "subjectAltName"], input=pem, capture_output=True, text=True, timeout=20, check=True)
    return set(said.stdout.split("\n", 1)[1].replace("DNS:", "").replace(",", " ").split())


class Manifests(unittest.TestCase):
    def test_the_api_server_takes_the_policies_to_begin_with(self):
        PLANE.install_crd()
        PLANE.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", CHART / "policies")

    def test_the_api_server_takes_every_rendering_strictly(self):
        # Server-side: defaults, validation and unknown fields are the API server's own.
        for namespace, standard in (("strict", "restricted"), ("strict-agents", "privileged")):
            PLANE.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {
                "name": namespace, "labels": {f"pod-security.kubernetes.io/{mode}": standard for mode in ("enforce", "warn")}}})
            # The first is a controller's work elsewhere; bare pods must find theirs.
            PLANE.apply(*[{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}
                          for name in ("default", "binnacle-test-doctor")])
        PLANE.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "wao-system"}})  # of modelServersSecrets
        PLANE.install_crd()
        for name, values in MATRIX.items():
            with self.subTest(name):
                objects = [o for o in HELM.template(values).all if o["kind"] not in FOREIGN]
                # Nothing is stored in a dry run, the chart's namespaces neither.
                said = self.taken(objects, "strict", "strict-agents").splitlines()
                # Another test's uninstall may have left the chart's namespace, which nothing here takes away for good.
                self.assertEqual([line for line in said if line.startswith("Warning:") and "binnacle-agents" not in line], [])
        agents = [HELM.template().one("DaemonSet", "binnacle-agent")]
        self.assertIn("would violate PodSecurity", self.taken(agents, "strict", "strict"), "the admission that is asked above says nothing")

    @staticmethod
    def taken(objects, namespace, agents):
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        text = text.replace('"namespace": "binnacle"', f'"namespace": "{namespace}"').replace('"namespace": "binnacle-agents"', f'"namespace": "{agents}"')
        return PLANE.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=text)


def older_chart(folder):
    """The oldest chart in git's history that can be had here, unpacked: of a shallow clone that is its first commit's."""
    git = ["git", "-C", ROOT, "-c", f"safe.directory={ROOT}"]
    added = subprocess.run([*git, "log", "--diff-filter=A", "--format=%H", "--", "charts/binnacle/Chart.yaml"], capture_output=True, text=True, timeout=60)
    if added.returncode or not added.stdout.split():
        raise unittest.SkipTest("no git history here, so no older chart")
    archive = subprocess.run([*git, "archive", added.stdout.split()[-1], "charts/binnacle"], capture_output=True, timeout=60, check=True)
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, timeout=60, check=True)
    return pathlib.Path(folder) / "charts" / "binnacle"


class FromAnOlderChart(unittest.TestCase):
    def test_an_upgrade_goes_through_makes_the_certificates_anew_and_leaves_nothing_old(self):
        place = {"namespace": "binnacle-old"}
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(subprocess.run, [HELM.program, "uninstall", "binnacle-old", "--ignore-not-found", "--kubeconfig", str(PLANE.kubeconfig), "-n", "binnacle-old"],
                            capture_output=True, timeout=600, check=False)
            helm("install", "binnacle-old", older_chart(folder), "--create-namespace", "--set", "aggregator.replicas=3", **place)
        before = there("secret", "binnacle-old-server", "binnacle-old")["data"]
        PLANE.install_crd()  # as README.md says: helm never touches one that is there
        helm("upgrade", "binnacle-old", CHART, "--reset-then-reuse-values", **place)
        # That chart kept the authorities' keys where others may have read them: what they signed ends, and is trusted only while pods get the new files.
        after = there("secret", "binnacle-old-server", "binnacle-old")["data"]
        self.assertNotEqual(after["tls.crt"], before["tls.crt"])
        authorities = [each_of(base64.b64decode(data["ca.crt"]).decode()) for data in (before, after)]
        self.assertEqual(authorities[1][1:], authorities[0])
        self.assertIsNone(there("secret", "binnacle-old-trial-authorities", "binnacle-old"))
        helm("upgrade", "binnacle-old", CHART, "--reset-then-reuse-values", **place)
        self.assertEqual(there("secret", "binnacle-old-server", "binnacle-old")["data"]["tls.crt"], after["tls.crt"])
        self.assertEqual(there("deployment", "binnacle-old-aggregator", "binnacle-old")["spec"]["replicas"], 3)
        now = {f"{o['kind']} {o['metadata']['name']}" for o in yaml.safe_load_all(helm("get", "manifest", "binnacle-old", **place)) if o}
        # What a service's controller makes is in no manifest.
        left = [o for o in everything_of("binnacle-old") if o not in now and not o.startswith("EndpointSlice ")]
        self.assertEqual(left, [])
        helm("rollback", "binnacle-old", "1", **place)
        helm("uninstall", "binnacle-old", **place)
        self.assertEqual(everything_of("binnacle-old"), [])


class WrongOrder(unittest.TestCase):
    def test_an_uninstall_after_the_programs_are_gone_leaves_no_api_service(self):
        place = {"namespace": "binnacle-odd"}
        helm("install", "binnacle-odd", CHART, "--create-namespace", **place)
        self.assertTrue(there("apiservice", "v1beta2.custom.metrics.k8s.io"))
        for kind in ("deployment", "service", "secret", "serviceaccount"):
            PLANE.kubectl("delete", kind, "-n", "binnacle-odd", "-l", "app.kubernetes.io/part-of=binnacle")
        PLANE.kubectl("delete", "crd", "taspolicies.telemetry.intel.com")
        PLANE.wait_for("the APIService to be unavailable", lambda: "False" in PLANE.kubectl(
            "get", "apiservice", "v1beta2.custom.metrics.k8s.io", "-o", 'jsonpath={.status.conditions[?(@.type=="Available")].status}'), 120)
        helm("uninstall", "binnacle-odd", **place)
        self.assertEqual(everything_of("binnacle-odd"), [])
        for version in ("v1beta1", "v1beta2"):
            self.assertFalse(there("apiservice", f"{version}.custom.metrics.k8s.io"))
        PLANE.install_crd()


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
        with self.subTest("a node that came later is named at the next one, by an authority beside the one that signed before"):
            add_node("node3")
            helm("upgrade", "binnacle", CHART, "--set", "aggregator.replicas=3", *BY_CERTIFICATE)
            self.assertEqual(names_in(certificates()[1]), {"node1", "node2", "node3"})
            self.assertEqual(certificates()[0], server)
            self.assertEqual(each_of(certificates()[2])[1:], each_of(authority))
        with self.subTest("no key of an authority is in what helm or the cluster keeps"):
            self.no_authority_s_key_is_kept()
        with self.subTest("what is in the last third of its life is made again, and only that; the authority before is trusted for a day"):
            self.old_certificates_are_made_again()
        with self.subTest("a rollback goes back"):
            helm("rollback", "binnacle", "1")
            self.assertEqual(there("deployment", "binnacle-aggregator", "binnacle")["spec"]["replicas"], 2)
        with self.subTest("also to the certificates of then, which an upgrade looks after"):
            self.assertEqual(certificates(), (server, agent, authority))
            helm("upgrade", "binnacle", CHART, "--reset-then-reuse-values")
            self.assertEqual(names_in(certificates()[1]), {"node1", "node2", "node3"})
            self.assertEqual(certificates()[0], server)
            self.assertEqual(each_of(certificates()[2])[1:], each_of(authority))
        with self.subTest("the aggregator's role lets it follow policies, write their status, label nodes and lead"):
            self.aggregator_works_with_its_role()
        with self.subTest("the doctor finds a right that is missing, and says what does not work without it"):
            self.doctor_looks_at_rights()
        with self.subTest("the API server passes on what the chart's certificates let through"):
            self.custom_metrics_come_through_the_api_server()
        with self.subTest("nothing but the CRD stays"):
            helm("uninstall", "binnacle")
            self.assertTrue(there("crd", "taspolicies.telemetry.intel.com"))
            self.assertFalse(there("apiservice", "v1beta1.custom.metrics.k8s.io"))
            self.assertEqual(everything_of("binnacle"), [])

    def no_authority_s_key_is_kept(self):
        kept = written_by("binnacle", "binnacle") + [json.dumps(there("secrets", name, namespace)) for namespace in ("binnacle", "binnacle-agents")
                                                     for name in PLANE.kubectl("get", "secrets", "-n", namespace, "-o", "name", "-l", "app.kubernetes.io/part-of=binnacle").replace("secret/", "").split()]
        signs, keys = set(), set()
        for text in kept:
            self.assertNotRegex(text, "-----BEGIN [A-Z ]*PRIVATE KEY")
            for word in set(re.findall("[A-Za-z0-9+/=]{400,}", text)):
                with contextlib.suppress(ValueError):
                    pem = base64.b64decode(word, validate=True).decode()
                    for certificate in each_of(pem):
                        said = subprocess.run(["openssl", "x509", "-noout", "-pubkey", "-ext", "basicConstraints"], input=certificate, capture_output=True, text=True, timeout=20, check=True).stdout
                        if "CA:TRUE" in said:
                            signs.add(said[said.index("-----BEGIN"):].split("X509v3")[0].strip())
                    if "PRIVATE KEY" in pem:
                        keys.add(subprocess.run(["openssl", "pkey", "-pubout"], input=pem, capture_output=True, text=True, timeout=20, check=True).stdout.strip())
        self.assertGreaterEqual(len(signs), 4)
        self.assertGreaterEqual(len(keys), 4)
        self.assertEqual(signs & keys, set())

    def old_certificates_are_made_again(self):
        def upgrade_after(secret, **life):
            """The secret says that it was made and ends so many days from now."""
            now = int(time.time())
            PLANE.kubectl("annotate", "secret", secret, "-n", "binnacle", "--overwrite", *(f"binnacle/{key}={now + days * 86400}" for key, days in life.items()))
            helm("upgrade", "binnacle", CHART, "--set", "aggregator.replicas=3", *BY_CERTIFICATE)
            return certificates(), each_of(base64.b64decode(there("secret", "binnacle-server", "binnacle")["data"]["ca.crt"]).decode())

        (server, agent, authorities), (before,) = certificates(), each_of(base64.b64decode(there("secret", "binnacle-server", "binnacle")["data"]["ca.crt"]).decode())
        renewed, trusted = upgrade_after("binnacle-server", made=-364, ends=1)
        self.assertNotEqual(renewed[0], server)
        self.assertEqual(renewed[1:], (agent, authorities))
        self.assertEqual(trusted[1:], [before])
        self.assertGreater(int(there("secret", "binnacle-server", "binnacle")["metadata"]["annotations"]["binnacle/ends"]), time.time() + 300 * 86400)
        api = there("apiservice", "v1beta2.custom.metrics.k8s.io")
        self.assertEqual(api["spec"]["caBundle"], there("secret", "binnacle-server", "binnacle")["data"]["ca.crt"])
        checksum = there("deployment", "binnacle-scheduler", "binnacle")["spec"]["template"]["metadata"]["annotations"]["checksum/server-ca"]
        # Two days later.
        later, alone = upgrade_after("binnacle-server", made=-2, ends=363)
        self.assertEqual((later, alone), (renewed, trusted[:1]))
        self.assertEqual(there("deployment", "binnacle-scheduler", "binnacle")["spec"]["template"]["metadata"]["annotations"]["checksum/server-ca"], checksum)
        callers = [there("secret", name, "binnacle")["data"]["tls.crt"] for name in ("binnacle-client", "binnacle-scheduler-client")]
        upgrade_after("binnacle-client", made=-364, ends=1)
        self.assertTrue(all(there("secret", name, "binnacle")["data"]["tls.crt"] != old for name, old in zip(("binnacle-client", "binnacle-scheduler-client"), callers)))

    def custom_metrics_come_through_the_api_server(self):
        """The real programs with the chart's secrets, as the endpoint of the chart's service: what NOTES.txt tells to try."""
        if IS_OLD:
            return  # reads Endpoints, which a controller keeps empty where the service has a selector; custom_metrics_test asks there
        trial = Trial(BUILD)
        self.addCleanup(trial.stop)
        pki = trial.folder / "chart"
        for which, namespace in (("server", "binnacle"), ("agent", "binnacle-agents")):
            (pki / which).mkdir(parents=True)
            for key, value in there("secret", f"binnacle-{which}", namespace)["data"].items():
                (pki / which / key).write_bytes(base64.b64decode(value))
        ports = free_ports()
        trial.start("aggregator", BUILD / "aggregator/binnacle-aggregator", "--kube-config", PLANE.kubeconfig, "--cert", pki / "server/tls.crt",
                    "--key", pki / "server/tls.key", "--agents-ca", pki / "server/agents-ca.crt", "--clients-ca", pki / "server/clients-ca.crt",
                    *(word for face, port in ports.items() for word in (f"--{face}-port", port)))
        trial.start("agent", BUILD / "agent/binnacle-agent", "--node-name", "node2", "--aggregator", f"127.0.0.1:{ports['ingest']}",
                    "--server-name", "binnacle-ingest.binnacle.svc", "--cert", pki / "agent/tls.crt", "--key", pki / "agent/tls.key",
                    "--ca", pki / "agent/ca.crt", "--sources", "os", "--listen", "")
        PLANE.add_endpoint("binnacle", "binnacle", ports["metrics"])
        path = "/apis/custom.metrics.k8s.io/v1beta2/nodes/*/os_memory_available_bytes"
        trial.wait_for("the node's memory through the API server", lambda: "node2" in PLANE.kubectl("get", "--raw", path, check=False)[1], 60)
        self.assertEqual(PLANE.kubectl("get", "apiservice", "v1beta2.custom.metrics.k8s.io", "-o",
                                       'jsonpath={.status.conditions[?(@.type=="Available")].status}').strip(), "True")
        PLANE.kubectl("delete", "endpointslice", "binnacle", "-n", "binnacle")

    def doctor_looks_at_rights(self):
        def look(*more):
            done = subprocess.run([BUILD / "cli/binnacle", "doctor", "rights", "--kube-config", PLANE.kubeconfig, "--timeout", "60", "-o", "json", *more],
                                  capture_output=True, text=True, timeout=300, check=False)
            return done.returncode, [(f["grade"], f["sentence"]) for f in json.loads(done.stdout)["findings"]]
        account = "system:serviceaccount:binnacle:binnacle-aggregator"
        # What the cluster lets others do is the same in every look at what the account may do.
        others = ("ok", "neither every user nor the ClusterRoles edit and admin may write TASPolicy objects")
        self.assertEqual(look(), (0, [("ok", f"{account} may do all that it must"), others]))
        role = there("clusterrole", "binnacle-aggregator")
        without = role | {"rules": [r | {"verbs": [v for v in r["verbs"] if v != "patch" or r["resources"] != ["nodes"]]} for r in role["rules"]]}
        PLANE.kubectl("replace", "-f", "-", stdin=json.dumps(without))
        missing = (1, [("failure", f"{account} may not patch nodes: deschedule and labeling label no node, and refused pods are not woken"), others])
        PLANE.wait_for("the authorizer to notice", lambda: look() == missing, 60)
        without["metadata"].pop("resourceVersion")
        PLANE.kubectl("replace", "-f", "-", stdin=json.dumps(without | {"rules": role["rules"]}))
        PLANE.wait_for("the role to be whole again", lambda: look()[0] == 0, 60)
        self.assertEqual(look("--aggregator-account", "binnacle/nobody"), (1, [("failure", "system:serviceaccount:binnacle:nobody may do nothing of what an aggregator must"), others]))

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
    run_tests(__doc__)
