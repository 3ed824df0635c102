"""The chart, rendered for a matrix of values: every object is whole and fits the others, least privilege is what is written, and the real programs
take what is rendered.

Run by scripts/check chart, or by hand: python3 tests/chart/chart_test.py --helm HELM --build build [TestName]
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import yaml
from rendered import CHART, CLUSTER_WIDE, HELM_FLAGS, ROOT, Helm, Refused

HELM = None
BUILD = ROOT / "build"
DIGEST = "sha256:" + 64 * "a"
NODES = {"certificates": {"nodes": ["node1", "node2"]}}
EXISTING = {"certificates": {"mode": "existing", "existing": {
    "server": "my-server", "agent": "my-agent", "client": "my-client", "serverCA": "-----BEGIN CERTIFICATE-----\n"}}}
CERT_MANAGER = {"certificates": {"mode": "certManager", "nodes": ["node1"], "certManager": {
    "serverIssuer": {"name": "a"}, "agentIssuer": {"name": "b"}, "clientIssuer": {"name": "c"}, "trustSecret": "my-trust", "agentTrustSecret": "my-ca"}}}
BY_CERTIFICATE = {"agent": {"identity": "certificate"}}
ALIASES = [{"name": "machine_kw", "family": "host_power_watts", "scale": 0.001, "window": "1m"},
           {"name": "first_socket", "family": "rapl_power_watts", "selector": {"package": "0"}, "rule": "sole"}]
MATRIX = {
    "defaults": NODES,
    "privileged": NODES | {"agent": {"mode": "privileged", "textfileDirectory": "/var/lib/metrics"}},
    "ipmi": NODES | {"agent": {"ipmi": {"enabled": True}}},
    "ipmi by a device plug-in": NODES | {"agent": {"ipmi": {"enabled": True, "access": "devicePlugin", "deviceResource": "example.com/ipmi"}}},
    "existing secrets": EXISTING,
    "cert-manager": CERT_MANAGER,
    "agents by certificate": NODES | BY_CERTIFICATE,
    "agents by a certificate of yours": EXISTING | BY_CERTIFICATE,
    "agents by cert-manager's certificate": CERT_MANAGER | BY_CERTIFICATE,
    "everything optional": NODES | {"monitoring": {"monitors": True, "rules": True, "dashboards": True, "labels": {"release": "p"}},
                                    "openshift": {"enabled": True}, "image": {"pullSecrets": ["pull"], "digests": {"agent": DIGEST}}, "cluster": "edge", "descheduler": {"enabled": True},
                                    "aggregator": {"settings": {"label-namespaces": ["ops", "power"]}, "aliases": ALIASES}},
    "nothing optional": NODES | {"aggregator": {"replicas": 1}, "customMetrics": {"enabled": False}, "scheduler": {"enabled": False},
                                 "priorityClass": {"create": False}, "networkPolicy": {"enabled": False}, "agent": {"namespace": {"create": False}}},
    "far agents": NODES | {"agent": {"aggregators": ["binnacle.example.com:9110"], "serverName": "x"}, "aggregator": {"ingest": {"type": "NodePort", "nodePort": 30110}}},
}


def each_rendering():
    for name, values in MATRIX.items():
        yield name, HELM.template(values)
    for preset in sorted((CHART / "presets").glob("*.yaml")):
        yield preset.name, HELM.template(files=[preset])


class Rendered(unittest.TestCase):
    """For every rendering of the matrix and every preset."""

    def for_each(self, check):
        for name, objects in RENDERED:
            with self.subTest(name):
                check(objects)

    def test_helm_lint_finds_nothing(self):
        said = HELM.run("lint", CHART, "--strict", *HELM_FLAGS, "--set", "certificates.nodes={n}")
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)

    def test_every_object_has_a_name_of_its_own_a_namespace_and_the_usual_labels(self):
        def check(objects):
            seen = set()
            for o in objects.all:
                meta = o["metadata"]
                self.assertEqual("namespace" not in meta, o["kind"] in CLUSTER_WIDE | {"CustomResourceDefinition"}, o["kind"])
                key = (o["apiVersion"], o["kind"], meta.get("namespace"), meta["name"])
                self.assertNotIn(key, seen)
                seen.add(key)
                self.assertEqual(meta["labels"]["app.kubernetes.io/name"], "binnacle", key)
                if o["kind"] != "CustomResourceDefinition":
                    for label in ("instance", "component", "version", "managed-by", "part-of"):
                        self.assertIn(f"app.kubernetes.io/{label}", meta["labels"], key)
        self.for_each(check)

    def test_selectors_meet_pods_and_ports_meet_names(self):
        def check(objects):
            pods = list(objects.pods())

            def selected(selector, namespace):
                return [spec for _, ns, labels, spec in pods if ns == namespace and selector.items() <= labels.items()]
            for o in objects.of("DaemonSet") + objects.of("Deployment"):
                self.assertLessEqual(o["spec"]["selector"]["matchLabels"].items(), o["spec"]["template"]["metadata"]["labels"].items())
            for o in objects.of("PodDisruptionBudget") + objects.of("PodMonitor"):
                self.assertEqual(len(selected(o["spec"]["selector"]["matchLabels"], o["metadata"]["namespace"])), 1)
            for o in objects.of("Service"):
                found = selected(o["spec"]["selector"], o["metadata"]["namespace"])
                self.assertEqual(len(found), 1)
                names = {p["name"] for c in found[0]["containers"] for p in c.get("ports", [])}
                self.assertLessEqual({p["targetPort"] for p in o["spec"]["ports"]}, names)
            for o in objects.of("NetworkPolicy"):
                found = selected(o["spec"]["podSelector"]["matchLabels"], o["metadata"]["namespace"])
                self.assertEqual(len(found), 1)
                names = {p["name"] for c in found[0]["containers"] for p in c.get("ports", [])}
                self.assertEqual({p["port"] for rule in o["spec"]["ingress"] for p in rule["ports"]}, names)
        self.for_each(check)

    def test_what_a_pod_mounts_or_runs_as_is_there(self):
        def check(objects):
            there = {(o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"]) for o in objects.all}
            there |= {("Secret", o["metadata"]["namespace"], o["spec"]["secretName"]) for o in objects.of("Certificate")}
            for _, namespace, _, spec in objects.pods():
                volumes = {v["name"]: v for v in spec.get("volumes", [])}
                for v in volumes.values():
                    if "configMap" in v:
                        self.assertIn(("ConfigMap", namespace, v["configMap"]["name"]), there)
                    if "secret" in v and not v["secret"]["secretName"].startswith("my-"):
                        self.assertIn(("Secret", namespace, v["secret"]["secretName"]), there)
                mounted = {m["name"] for c in spec["containers"] for m in c["volumeMounts"]}
                self.assertEqual(mounted, set(volumes))
                if "serviceAccountName" in spec:
                    self.assertIn(("ServiceAccount", namespace, spec["serviceAccountName"]), there)
                if "priorityClassName" in spec:
                    self.assertIn(("PriorityClass", None, spec["priorityClassName"]), there)
                for c in spec["containers"]:
                    self.assertIn("requests", c["resources"])
                    self.assertIn("memory", c["resources"]["limits"])
            for o in objects.of("RoleBinding") + objects.of("ClusterRoleBinding"):
                for s in o["subjects"]:
                    self.assertIn((s["kind"], s["namespace"], s["name"]), there)
                ref = o["roleRef"]
                if ref["name"].startswith("binnacle"):
                    self.assertIn((ref["kind"], o["metadata"].get("namespace") if ref["kind"] == "Role" else None, ref["name"]), there)
        self.for_each(check)

    def test_all_but_the_agents_are_restricted(self):
        # Source: kubernetes.io, Pod Security Standards, "Restricted".
        def check(objects):
            for name, namespace, _, spec in objects.pods():
                for key in ("hostNetwork", "hostPID", "hostIPC"):
                    self.assertNotIn(key, spec)
                if namespace != "binnacle":
                    continue
                pod = spec["securityContext"]
                self.assertIs(pod["runAsNonRoot"], True)
                self.assertEqual(pod["seccompProfile"]["type"], "RuntimeDefault")
                self.assertTrue(all(set(v) <= {"name", "configMap", "secret", "emptyDir", "projected"} for v in spec["volumes"]), name)
                for c in spec["containers"]:
                    self.assertEqual(c["securityContext"], {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                                            "capabilities": {"drop": ["ALL"]}})
        self.for_each(check)

    def test_the_hardened_agent_has_one_capability_and_only_the_sidecar_has_the_device(self):
        def check(objects):
            spec = objects.one("DaemonSet", "binnacle-agent")["spec"]["template"]["spec"]
            self.assertIs(spec["automountServiceAccountToken"], False)
            agent = spec["containers"][0]
            for m in agent["volumeMounts"]:
                self.assertTrue(m.get("readOnly") or m["name"] == "ipmi", m)
                self.assertNotIn("ipmi-device", m["name"])
            if agent["securityContext"].get("privileged"):
                return
            self.assertEqual(agent["securityContext"]["capabilities"], {"drop": ["ALL"], "add": ["PERFMON"]})
            self.assertIs(agent["securityContext"]["allowPrivilegeEscalation"], False)
            self.assertIs(agent["securityContext"]["readOnlyRootFilesystem"], True)
        self.for_each(check)
        hardened = [o.one("DaemonSet", "binnacle-agent")["spec"]["template"]["spec"]["containers"][0]["securityContext"] for n, o in RENDERED]
        self.assertEqual([bool(c.get("privileged")) for c in hardened].count(True), 1)

    def test_agents_speak_by_their_own_token_or_by_the_certificate_that_all_share(self):
        def check(objects):
            agent = yaml.safe_load(objects.one("ConfigMap", "binnacle-agent")["data"]["agent.yaml"])
            aggregator = yaml.safe_load(objects.one("ConfigMap", "binnacle-aggregator")["data"]["aggregator.yaml"])
            volumes = {v["name"]: v for v in objects.one("DaemonSet", "binnacle-agent")["spec"]["template"]["spec"]["volumes"]}
            self.assertEqual("token" in volumes, "token-file" in agent)
            self.assertEqual("token-file" in agent, "cert" not in agent)
            self.assertEqual("token-file" in agent, "agents-account" in aggregator)
            if "token" in volumes:
                self.assertEqual(volumes["token"]["projected"]["sources"], [{"serviceAccountToken": {"audience": "binnacle", "expirationSeconds": 3600, "path": "token"}}])
                self.assertEqual(aggregator["agents-account"], "binnacle-agents/binnacle-agent")
            else:
                self.assertIn("agents-ca", aggregator)
        self.for_each(check)

    def test_api_services_check_the_certificate(self):
        def check(objects):
            for o in objects.of("APIService"):
                self.assertNotIn("insecureSkipTLSVerify", o["spec"])
                self.assertTrue(o["spec"].get("caBundle") or "cert-manager.io/inject-ca-from" in o["metadata"].get("annotations", {}))
                self.assertEqual(o["metadata"]["name"], o["spec"]["version"] + "." + o["spec"]["group"])
        self.for_each(check)

    def test_replaced_certificates_reach_pods_that_run(self):
        def check(objects):
            for name, _, _, spec in objects.pods():
                secrets = {v["name"] for v in spec.get("volumes", []) if "secret" in v}
                for c in spec["containers"]:
                    # The kubelet renews a folder, and never a file that was mounted by subPath.
                    self.assertEqual([m for m in c["volumeMounts"] if m["name"] in secrets and "subPath" in m], [], name)
        self.for_each(check)

        def templates():
            """Without a cluster to look into the chart makes new certificates each time."""
            made = HELM.template(NODES)
            return made.secret("binnacle-server"), [o["spec"]["template"] for o in made.of("Deployment") + made.of("DaemonSet")]
        (one, before), (other, after) = templates(), templates()
        self.assertNotEqual(one, other)
        self.assertEqual(before, after)

    def test_secrets_of_others_are_not_the_chart_s_to_write(self):
        for name in ("existing secrets", "cert-manager", "agents by a certificate of yours", "agents by cert-manager's certificate"):
            self.assertEqual([o["metadata"]["name"] for o in dict(RENDERED)[name].of("Secret")], [], name)

    def test_aliases_are_a_file_of_their_own_whose_changes_reach_pods_that_run(self):
        objects = dict(RENDERED)["everything optional"]
        self.assertEqual(yaml.safe_load(objects.one("ConfigMap", "binnacle-aliases")["data"]["aliases.yaml"]), ALIASES)
        settings = yaml.safe_load(objects.one("ConfigMap", "binnacle-aggregator")["data"]["aggregator.yaml"])
        spec = objects.one("Deployment", "binnacle-aggregator")["spec"]["template"]["spec"]
        mounts = [m for m in spec["containers"][0]["volumeMounts"] if m["name"] == "aliases"]
        self.assertEqual([(m["mountPath"] + "/aliases.yaml", m.get("subPath")) for m in mounts], [(settings["aliases"], None)])
        self.assertNotIn("aliases", yaml.safe_load(dict(RENDERED)["defaults"].one("ConfigMap", "binnacle-aggregator")["data"]["aggregator.yaml"]))

    def test_an_aggregator_may_take_the_time_to_drain_twice(self):
        for drain, seconds in ((None, 15), ("0s", 5), ("500ms", 7), ("30s", 65), ("1m30s", 185)):
            with self.subTest(drain):
                settings = {"aggregator": {"settings": {"drain": drain}}} if drain else {}
                pod = HELM.template(NODES | settings).one("Deployment", "binnacle-aggregator")["spec"]["template"]["spec"]
                self.assertEqual(pod["terminationGracePeriodSeconds"], seconds)

    def test_a_digest_wins_over_the_tag(self):
        images = {c["image"] for _, _, _, spec in dict(RENDERED)["everything optional"].pods() for c in spec["containers"]}
        self.assertIn("localhost/binnacle/binnacle-agent@" + DIGEST, images)
        self.assertFalse([i for i in images if "binnacle-agent:" in i or "binnacle-aggregator@" in i])

    def test_the_descheduler_evicts_by_affinity_alone_and_deletes_nothing(self):
        objects = dict(RENDERED)["everything optional"]
        policy = yaml.safe_load(objects.one("ConfigMap", "binnacle-descheduler")["data"]["policy.yaml"])
        self.assertEqual(policy["profiles"][0]["plugins"], {"deschedule": {"enabled": ["RemovePodsViolatingNodeAffinity"]}})
        verbs = {(r, v) for rule in objects.one("ClusterRole", "binnacle-descheduler")["rules"] for r in rule["resources"] for v in rule["verbs"]}
        self.assertEqual({(r, v) for r, v in verbs if v not in ("get", "list", "watch")},
                         {("pods/eviction", "create"), ("events", "create"), ("events", "update")})

    def test_helm_test_calls_the_extender_as_the_scheduler_does(self):
        objects = dict(RENDERED)["defaults"]
        doctor, scheduler = objects.one("Pod", "binnacle-test-doctor")["spec"], objects.one("Deployment", "binnacle-scheduler")["spec"]["template"]["spec"]
        mounts = {m["mountPath"]: m["name"] for m in doctor["containers"][0]["volumeMounts"]}
        self.assertEqual(mounts.keys(), {m["mountPath"] for m in scheduler["containers"][0]["volumeMounts"]})
        self.assertIn("--scheduler-config=/etc/kubernetes/scheduler.yaml", doctor["containers"][0]["command"])

    def test_openshift_gives_its_constraints_to_one_service_account(self):
        objects = dict(RENDERED)["openshift.yaml"]
        scc = objects.of("SecurityContextConstraints")[0]
        self.assertEqual((scc["users"], scc["groups"], scc["allowPrivilegedContainer"], scc["allowedCapabilities"]), ([], [], False, ["PERFMON"]))
        users = [b for b in objects.of("RoleBinding") + objects.of("ClusterRoleBinding") if b["roleRef"]["name"] == scc["metadata"]["name"] + "-scc"]
        self.assertEqual([b["subjects"] for b in users], [[{"kind": "ServiceAccount", "name": "binnacle-agent", "namespace": "binnacle-agents"}]])
        for _, namespace, _, spec in objects.pods():
            if namespace == "binnacle":
                self.assertNotIn("runAsUser", spec["securityContext"])


class Programs(unittest.TestCase):
    def accepts(self, program, settings, *more):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(settings)
            file.flush()
            said = subprocess.run([BUILD / program, "--config", file.name, *more, "--print-config"], capture_output=True, text=True, timeout=20)
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        return yaml.safe_load(said.stdout)

    def test_they_take_the_settings_that_are_rendered(self):
        for name, objects in RENDERED:
            with self.subTest(name):
                agent = self.accepts("agent/binnacle-agent", objects.one("ConfigMap", "binnacle-agent")["data"]["agent.yaml"], "--node-name", "n")
                self.assertEqual(agent["sys-root"], "/host/sys")
                aggregator = self.accepts("aggregator/binnacle-aggregator", objects.one("ConfigMap", "binnacle-aggregator")["data"]["aggregator.yaml"])
                self.assertEqual(aggregator["kube-config"], "in-cluster")

    def test_the_ipmi_helper_takes_its_arguments(self):
        spec = dict(RENDERED)["ipmi"].one("DaemonSet", "binnacle-agent")["spec"]["template"]["spec"]
        said = subprocess.run([BUILD / "agent/ipmi/binnacle-ipmi", *spec["containers"][1]["args"], "--print-config"], capture_output=True, text=True, timeout=20)
        self.assertEqual((said.returncode, said.stderr), (0, ""))

    def test_the_scheduler_s_file_has_only_fields_that_it_knows(self):
        # It decodes strictly: an unknown field ends it. Source: kubernetes/kubernetes, pkg/scheduler/apis/config, v1.
        file = yaml.safe_load(dict(RENDERED)["defaults"].one("ConfigMap", "binnacle-scheduler")["data"]["scheduler.yaml"])
        self.assertLessEqual(set(file), {"apiVersion", "kind", "leaderElection", "profiles", "extenders"})
        extender = file["extenders"][0]
        self.assertLessEqual(set(extender), {"urlPrefix", "filterVerb", "prioritizeVerb", "weight", "enableHTTPS", "tlsConfig", "httpTimeout",
                                             "nodeCacheCapable", "managedResources", "ignorable"})
        self.assertGreater(extender["weight"], 0)
        self.assertIs(extender["nodeCacheCapable"], True)

    def test_a_generated_certificate_is_for_its_names_and_by_its_authority(self):
        objects = dict(RENDERED)["agents by certificate"]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for which in ("server", "agent", "client"):
                for key, value in objects.secret(f"binnacle-{which}").items():
                    (folder / f"{which}-{key}").write_bytes(value)

            def verified(ca, certificate, *more):
                said = subprocess.run(["openssl", "verify", "-CAfile", folder / ca, *more, folder / certificate], capture_output=True, text=True, timeout=20)
                return said.returncode == 0
            spoken_to = yaml.safe_load(objects.one("ConfigMap", "binnacle-agent")["data"]["agent.yaml"])["aggregator"][0].split(":")[0]
            for name in (spoken_to, "binnacle.binnacle.svc", "localhost"):
                self.assertTrue(verified("agent-ca.crt", "server-tls.crt", "-purpose", "sslserver", "-verify_hostname", name), name)
            for node in ("node1", "node2"):
                self.assertTrue(verified("server-agents-ca.crt", "agent-tls.crt", "-purpose", "sslclient", "-verify_hostname", node))
            self.assertTrue(verified("server-clients-ca.crt", "client-tls.crt", "-purpose", "sslclient"))
            self.assertFalse(verified("server-clients-ca.crt", "agent-tls.crt"))
            bundle = objects.of("APIService")[0]["spec"]["caBundle"]
            self.assertEqual(bundle, objects.one("Secret", "binnacle-server")["data"]["ca.crt"])


class Monitoring(unittest.TestCase):
    def test_rules_and_dashboards_ask_for_metrics_that_there_are(self):
        known = set(re.findall(r"^\| `([a-z_0-9]+)`", (ROOT / "METRICS.md").read_text(), re.M))
        objects = dict(RENDERED)["everything optional"]
        asked = [r["expr"] for g in objects.of("PrometheusRule")[0]["spec"]["groups"] for r in g["rules"]]
        board = json.loads(next(iter(objects.one("ConfigMap", "binnacle-dashboards")["data"].values())))
        asked += [t["expr"] for p in board["panels"] for t in p["targets"]]
        self.assertGreater(len(asked), 10)
        for expression in asked:
            for metric in re.findall(r"\b(?:binnacle|rapl|os|bmc|pmu)_[a-z0-9_]+", expression):
                self.assertIn(re.sub("_bucket$", "", metric), known, expression)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--helm", required=True)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    arguments, rest = parser.parse_known_args()
    HELM, BUILD = Helm(arguments.helm), arguments.build.resolve()
    try:
        RENDERED = list(each_rendering())
    except Refused as why:
        sys.exit(f"the chart does not render: {why}")
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
