"""The chart, rendered for a matrix of values: every object is whole and fits the others, and the real programs take what is rendered.

Run by scripts/check chart, or by hand: python3 tests/chart/chart_test.py --helm HELM --build build [TestName]
"""

import json
import re
import subprocess
import tempfile
import unittest

import matrix
import yaml
from matrix import ALIASES, DIGEST, HELM, NODES, RENDERED, Renderings
from rendered import CHART, CLUSTER_WIDE, HELM_FLAGS, ROOT


class Objects(Renderings):
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
                ports = {p["containerPort"] for c in found[0]["containers"] for p in c.get("ports", [])}
                self.assertEqual({p["port"] for rule in o["spec"]["ingress"] for p in rule["ports"]}, ports)
                # Whoever is not named reads no figures of a node.
                for rule in o["spec"]["ingress"]:
                    if {"port": 9103, "protocol": "TCP"} in rule["ports"]:
                        self.assertTrue(rule["from"])
                        self.assertEqual(len(rule["ports"]), 1)
                for rule in o["spec"]["egress"]:
                    for to in rule.get("to", []):
                        there = selected(to["podSelector"]["matchLabels"], to["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"])
                        self.assertLessEqual({p["port"] for p in rule["ports"]}, {p["containerPort"] for c in there[0]["containers"] for p in c["ports"]})
        self.for_each(check)

    def test_a_drain_may_evict_aggregators_that_are_not_ready(self):
        """A budget that protects pods which serve nobody let every drain of their nodes hang."""
        def check(objects):
            for budget in objects.of("PodDisruptionBudget"):
                self.assertEqual(budget["spec"]["unhealthyPodEvictionPolicy"], "AlwaysAllow")
        self.assertEqual(len(RENDERED["defaults"].of("PodDisruptionBudget")), 1)
        self.for_each(check)

    def test_who_may_forward_ports_may_do_so_by_websocket_and_by_spdy(self):
        rules = RENDERED["defaults"].one("Role", "binnacle-forwarder")["rules"]
        self.assertEqual([sorted(rule["verbs"]) for rule in rules if rule["resources"] == ["pods/portforward"]], [["create", "get"]])

    def test_replicas_ask_each_other_for_their_state_and_an_only_one_its_predecessor(self):
        for replicas in (1, 3):
            objects = HELM.template(NODES | {"aggregator": {"replicas": replicas}})
            settings = yaml.safe_load(objects.one("ConfigMap", "binnacle-aggregator")["data"]["aggregator.yaml"])
            self.assertEqual(settings["state-from"], ["binnacle-replicas.binnacle.svc:9102"])
            policy = objects.one("NetworkPolicy", "binnacle-aggregator")
            reach = [to["podSelector"] for rule in policy["spec"]["egress"] for to in rule.get("to", []) if rule["ports"] == [{"port": 9102, "protocol": "TCP"}]]
            self.assertEqual(reach, [policy["spec"]["podSelector"]])
            # The name has the addresses of replicas that are not ready, too, and so of all.
            service = objects.one("Service", "binnacle-replicas")["spec"]
            self.assertEqual((service["clusterIP"], service["publishNotReadyAddresses"]), ("None", True))
            # No pod comes before one goes: agents would not have met it.
            self.assertEqual(objects.one("Deployment", "binnacle-aggregator")["spec"]["strategy"]["rollingUpdate"], {"maxSurge": 0, "maxUnavailable": 1})

    def test_what_a_pod_mounts_or_runs_as_is_there(self):
        def check(objects):
            there = {(o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"]) for o in objects.all}
            there |= {("Secret", o["metadata"]["namespace"], o["spec"]["secretName"]) for o in objects.of("Certificate")}
            for _, namespace, _, spec in objects.pods():
                volumes = {v["name"]: v for v in spec.get("volumes", [])}
                for v in volumes.values():
                    if "configMap" in v:
                        self.assertIn(("ConfigMap", namespace, v["configMap"]["name"]), there)
                    for secret, _ in objects.secrets_of(v).values():
                        if not secret.startswith("my-"):
                            self.assertIn(("Secret", namespace, secret), there)
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

    def test_aliases_are_a_file_of_their_own_whose_changes_reach_pods_that_run(self):
        objects = RENDERED["everything optional"]
        self.assertEqual(yaml.safe_load(objects.one("ConfigMap", "binnacle-aliases")["data"]["aliases.yaml"]), ALIASES)
        settings = yaml.safe_load(objects.one("ConfigMap", "binnacle-aggregator")["data"]["aggregator.yaml"])
        spec = objects.one("Deployment", "binnacle-aggregator")["spec"]["template"]["spec"]
        mounts = [m for m in spec["containers"][0]["volumeMounts"] if m["name"] == "aliases"]
        self.assertEqual([(m["mountPath"] + "/aliases.yaml", m.get("subPath")) for m in mounts], [(settings["aliases"], None)])
        self.assertNotIn("aliases", yaml.safe_load(RENDERED["defaults"].one("ConfigMap", "binnacle-aggregator")["data"]["aggregator.yaml"]))

    def test_model_servers_bring_the_file_of_their_authority_and_waos_objects_are_read_without_them(self):
        def settings_of(objects):
            return yaml.safe_load(objects.one("ConfigMap", "binnacle-aggregator")["data"]["aggregator.yaml"])

        def groups_of(objects):
            return {group for rule in objects.one("ClusterRole", "binnacle-aggregator")["rules"] for group in rule.get("apiGroups", [])}
        objects, plain = RENDERED["everything optional"], RENDERED["defaults"]
        self.assertEqual(settings_of(objects)["model-servers"], ["models.example:8443"])
        spec = objects.one("Deployment", "binnacle-aggregator")["spec"]["template"]["spec"]
        mounts = [m["mountPath"] + "/ca.crt" for m in spec["containers"][0]["volumeMounts"] if m["name"] == "model-servers"]
        self.assertEqual(mounts, [settings_of(objects)["model-servers-ca"]])
        self.assertEqual([v["secret"]["secretName"] for v in spec["volumes"] if v["name"] == "model-servers"], ["my-models"])
        for one in (objects, plain):
            self.assertIn("node.waok8s.github.io", groups_of(one))
        self.assertFalse([key for key in settings_of(plain) if key.startswith("model-servers")])

    def test_passwords_of_model_servers_bring_the_right_to_read_these_secrets_and_no_others(self):
        def readers(objects):
            """(kind, namespace, rule) of every rule by which anybody may read Secrets."""
            return [(o["kind"], o["metadata"].get("namespace"), rule) for o in objects.of("Role") + objects.of("ClusterRole")
                    for rule in o["rules"] if {"secrets", "*"} & set(rule.get("resources", [])) and "" in rule["apiGroups"]]

        def rendered(**secrets):
            return HELM.template(NODES | {"aggregator": {"modelServers": ["m:1"], "modelServersSecrets": secrets}})
        rule = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}
        for name, objects in RENDERED.items():
            with self.subTest(name):
                self.assertEqual(readers(objects), [("Role", "wao-system", rule | {"resourceNames": ["pc"]})] if name == "everything optional" else [])
        self.assertEqual(readers(rendered(namespace="wao-system")), [("Role", "wao-system", rule)])
        self.assertEqual(readers(rendered(namespace="binnacle", names=["pc", "pc-2"])), [("Role", "binnacle", rule | {"resourceNames": ["pc", "pc-2"]})])
        objects = rendered(namespace="wao-system")
        role = next(o for o in objects.of("Role") if o["metadata"]["namespace"] == "wao-system")
        bound = [o for o in objects.of("RoleBinding") if o["roleRef"]["name"] == role["metadata"]["name"]]
        self.assertEqual([(o["metadata"]["namespace"], o["subjects"]) for o in bound],
                         [("wao-system", [{"kind": "ServiceAccount", "name": "binnacle-aggregator", "namespace": "binnacle"}])])
        settings = yaml.safe_load(objects.one("ConfigMap", "binnacle-aggregator")["data"]["aggregator.yaml"])
        self.assertEqual(settings["model-servers-secrets"], "wao-system")

    def test_an_aggregator_may_take_the_time_to_drain_twice(self):
        for drain, seconds in ((None, 15), ("0s", 5), ("500ms", 7), ("30s", 65), ("1m30s", 185)):
            with self.subTest(drain):
                settings = {"aggregator": {"settings": {"drain": drain}}} if drain else {}
                pod = HELM.template(NODES | settings).one("Deployment", "binnacle-aggregator")["spec"]["template"]["spec"]
                self.assertEqual(pod["terminationGracePeriodSeconds"], seconds)

    def test_the_admission_policy_knows_the_labels_of_others_that_the_aggregator_knows_and_its_prefix(self):
        code = (ROOT / "aggregator/policy/label_keys.cpp").read_text()

        def policy(settings):
            spec = HELM.template(NODES | {"aggregator": {"settings": settings}}).one("ValidatingAdmissionPolicy", "binnacle-aggregator-nodes")["spec"]
            return {v["name"]: v["expression"] for v in spec["variables"]}, [v["expression"] for v in spec["validations"] if ".wellKnown" in v["expression"]]

        lists, (rule,) = policy({})
        for name, array in (("wellKnown", "well_known"), ("others", "others")):
            known = re.findall(r'"([^"]+)"', re.search(rf"{array}\[\] = {{(.*?)}};", code, re.DOTALL)[1])
            self.assertGreater(len(known), 30)
            self.assertEqual(json.loads(lists[name]), known, name)
        self.assertIn('key.startsWith("telemetry.aware.scheduling.")', rule)
        self.assertIn('key.startsWith("")', rule)
        _, (rule,) = policy({"label-prefix": "tas-"})
        self.assertIn('key.startsWith("telemetry.aware.scheduling.tas-")', rule)
        self.assertIn('key.startsWith("tas-")', rule)

    def test_the_admission_policy_of_events_knows_by_which_name_the_aggregator_writes_them(self):
        name = re.search(r'\bevents\(\{"([^"]+)", s\.replica_id\}\)', (ROOT / "aggregator/cluster.cpp").read_text())[1]

        def check(objects):
            spec = objects.one("ValidatingAdmissionPolicy", "binnacle-aggregator-events")["spec"]
            named = [re.findall(r'(\w+)\.reportingController == "([^"]+)"', v["expression"]) for v in spec["validations"]]
            self.assertEqual(named, [[("object", name)], [("oldObject", name)]])
            binding = objects.one("ValidatingAdmissionPolicyBinding", "binnacle-aggregator-events")["spec"]
            self.assertEqual(binding, {"policyName": "binnacle-aggregator-events", "validationActions": ["Deny"]})
        self.for_each(check)
        without = HELM.template(NODES | {"aggregator": {"admissionPolicy": False}})
        self.assertEqual(without.of("ValidatingAdmissionPolicy") + without.of("ValidatingAdmissionPolicyBinding"), [])

    def test_a_digest_wins_over_the_tag(self):
        images = {c["image"] for _, _, _, spec in RENDERED["everything optional"].pods() for c in spec["containers"]}
        self.assertIn("localhost/binnacle/binnacle-agent@" + DIGEST, images)
        self.assertFalse([i for i in images if "binnacle-agent:" in i or "binnacle-aggregator@" in i])

    def test_a_digest_pins_the_programs_of_others_too(self):
        pinned = {"image": {"digest": DIGEST}}
        objects = HELM.template(NODES | {"scheduler": pinned, "descheduler": pinned | {"enabled": True}})
        for name, repository in (("scheduler", "registry.k8s.io/kube-scheduler"), ("descheduler", "registry.k8s.io/descheduler/descheduler")):
            spec = objects.one("Deployment", f"binnacle-{name}")["spec"]["template"]["spec"]
            self.assertEqual(spec["containers"][0]["image"], f"{repository}@{DIGEST}")

    def test_the_scheduler_is_asked_for_its_health_where_its_version_answers(self):
        # Source: kubernetes/kubernetes#118148: /livez and /readyz since 1.31.
        old, new = ["/healthz", "/healthz"], ["/livez", "/readyz"]
        for kubernetes, tag, paths in (("1.30.14", "", old), ("1.30.5-eks-1", "", old), ("1.31.0", "", new), ("1.36.3", "", new),
                                       ("1.36.3", "v1.30.5", old), ("1.30.14", "v1.31.2", new), ("1.36.3", "mine", new)):
            with self.subTest(f"{kubernetes} {tag}"):
                objects = HELM.template(NODES | {"scheduler": {"image": {"tag": tag}}}, kubernetes=kubernetes)
                container = objects.one("Deployment", "binnacle-scheduler")["spec"]["template"]["spec"]["containers"][0]
                self.assertEqual([container[probe]["httpGet"]["path"] for probe in ("livenessProbe", "readinessProbe")], paths)

    def test_the_descheduler_evicts_by_affinity_alone_and_deletes_nothing(self):
        objects = RENDERED["everything optional"]
        policy = yaml.safe_load(objects.one("ConfigMap", "binnacle-descheduler")["data"]["policy.yaml"])
        self.assertEqual(policy["profiles"][0]["plugins"], {"deschedule": {"enabled": ["RemovePodsViolatingNodeAffinity"]}})
        verbs = {(r, v) for rule in objects.one("ClusterRole", "binnacle-descheduler")["rules"] for r in rule["resources"] for v in rule["verbs"]}
        self.assertEqual({(r, v) for r, v in verbs if v not in ("get", "list", "watch")},
                         {("pods/eviction", "create"), ("events", "create"), ("events", "update")})

    def test_pods_ask_for_the_priority_class_that_is_made_or_named(self):
        def classes(**values):
            objects = HELM.template(NODES | {"priorityClass": values, "descheduler": {"enabled": True}})
            asked = {spec.get("priorityClassName") for name, _, _, spec in objects.pods() if "-test-" not in name}
            return asked, [o["metadata"]["name"] for o in objects.of("PriorityClass")]
        self.assertEqual(classes(), ({"binnacle"}, ["binnacle"]))
        # A class keeps its value for ever, so that another value comes with another name.
        self.assertEqual(classes(name="telemetry", value=7), ({"telemetry"}, ["telemetry"]))
        self.assertEqual(classes(name="system-cluster-critical", create=False), ({"system-cluster-critical"}, []))
        self.assertEqual(classes(create=False), ({None}, []))

    def test_helm_s_tests_run_where_the_aggregator_may(self):
        where = {"nodeSelector": {"pool": "infra", "kubernetes.io/os": "linux"}, "tolerations": [{"key": "infra", "operator": "Exists"}]}
        objects = HELM.template(NODES | {"aggregator": where})
        for name in ("binnacle-test-doctor", "binnacle-test-sensors"):
            spec = objects.one("Pod", name)["spec"]
            self.assertEqual({key: spec[key] for key in where}, where, name)

    def test_accounts_of_helm_s_tests_have_rights_only_while_a_test_runs(self):
        def check(objects):
            pods = {o["spec"].get("serviceAccountName") for o in objects.of("Pod")}
            bound = [o for o in objects.of("RoleBinding") + objects.of("ClusterRoleBinding") if pods & {subject["name"] for subject in o["subjects"]}]
            self.assertEqual([o["metadata"]["name"] for o in bound], ["binnacle-test-doctor"])
            for o in bound:
                told = o["metadata"].get("annotations", {})
                self.assertEqual(told.get("helm.sh/hook"), "test")
                self.assertLess(int(told["helm.sh/hook-weight"]), 0)  # before the pods, which have none
                self.assertEqual(told["helm.sh/hook-delete-policy"].split(","), ["before-hook-creation", "hook-succeeded"])
        self.for_each(check)

    def test_helm_test_asks_for_a_value_that_agents_read(self):
        def asked(**settings):
            command = HELM.template(NODES | {"agent": {"settings": settings}}).one("Pod", "binnacle-test-sensors")["spec"]["containers"][0]["command"]
            return command[command.index("--metric") + 1]
        self.assertEqual([asked(), asked(sources=["rapl", "os"]), asked(sources=["rapl"])],
                         ["os_memory_available_bytes", "os_memory_available_bytes", "binnacle_agent_resident_bytes"])
        known = (ROOT / "METRICS.md").read_text()
        for metric in (asked(), asked(sources=["rapl"])):
            self.assertIn(f"\n| `{metric}` | gauge |", known)

    def test_helm_test_calls_the_extender_as_the_scheduler_does(self):
        objects = RENDERED["defaults"]
        doctor, scheduler = objects.one("Pod", "binnacle-test-doctor")["spec"], objects.one("Deployment", "binnacle-scheduler")["spec"]["template"]["spec"]
        mounts = {m["mountPath"]: m["name"] for m in doctor["containers"][0]["volumeMounts"]}
        self.assertEqual(mounts.keys(), {m["mountPath"] for m in scheduler["containers"][0]["volumeMounts"]})
        self.assertIn("--scheduler-config=/etc/kubernetes/scheduler.yaml", doctor["containers"][0]["command"])



class Programs(unittest.TestCase):
    def accepts(self, program, settings, *more):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(settings)
            file.flush()
            said = subprocess.run([matrix.BUILD / program, "--config", file.name, *more, "--print-config"], capture_output=True, text=True, timeout=20)
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        return yaml.safe_load(said.stdout)

    def test_they_take_the_settings_that_are_rendered(self):
        for name, objects in RENDERED.items():
            with self.subTest(name):
                agent = self.accepts("agent/binnacle-agent", objects.one("ConfigMap", "binnacle-agent")["data"]["agent.yaml"], "--node-name", "n")
                self.assertEqual(agent["sys-root"], "/host/sys")
                aggregator = self.accepts("aggregator/binnacle-aggregator", objects.one("ConfigMap", "binnacle-aggregator")["data"]["aggregator.yaml"])
                self.assertEqual(aggregator["kube-config"], "in-cluster")

    def test_the_agent_is_told_its_exporters_by_the_node_s_address(self):
        wanted = ["http://$(HOST_IP):9400/metrics", "http://dcgm.gpu.svc:9400/metrics"]
        objects = HELM.template(NODES | {"agent": {"settings": {"scrape": wanted}}})
        agent = objects.one("DaemonSet", "binnacle-agent")["spec"]["template"]["spec"]["containers"][0]
        variables = {e["name"]: e["valueFrom"]["fieldRef"]["fieldPath"] for e in agent["env"]}
        self.assertEqual(variables, {"NODE_NAME": "spec.nodeName", "HOST_IP": "status.hostIP"})
        # What the kubelet puts for them.
        words = [w.replace("$(NODE_NAME)", "n").replace("$(HOST_IP)", "192.0.2.7") for w in agent["args"][1:]]
        said = self.accepts("agent/binnacle-agent", objects.one("ConfigMap", "binnacle-agent")["data"]["agent.yaml"], *words)
        self.assertEqual((said["node-name"], said["scrape"]), ("n", [w.replace("$(HOST_IP)", "192.0.2.7") for w in wanted]))

    def test_the_agent_reads_what_it_would_by_itself_but_a_bmc_only_with_a_device(self):
        def sources(objects, text=None):
            return self.accepts("agent/binnacle-agent", text or objects.one("ConfigMap", "binnacle-agent")["data"]["agent.yaml"])["sources"]
        own = sources(None, "cluster: x\n")
        self.assertIn("bmc", own)
        self.assertEqual([sources(RENDERED[name]) for name in ("ipmi", "ipmi by a device plug-in", "privileged")], [own] * 3)
        self.assertEqual(sources(RENDERED["defaults"]), [s for s in own if s != "bmc"])
        self.assertEqual(sources(HELM.template(NODES | {"agent": {"settings": {"sources": ["os", "bmc"]}}})), ["os", "bmc"])

    def test_the_ipmi_helper_takes_its_arguments(self):
        spec = RENDERED["ipmi"].one("DaemonSet", "binnacle-agent")["spec"]["template"]["spec"]
        said = subprocess.run([matrix.BUILD / "agent/ipmi/binnacle-ipmi", *spec["containers"][1]["args"], "--print-config"], capture_output=True, text=True, timeout=20)
        self.assertEqual((said.returncode, said.stderr), (0, ""))

    def test_policies_to_begin_with_have_no_mistake(self):
        files = sorted((CHART / "policies").glob("*.yaml"))
        self.assertTrue(files)
        said = subprocess.run([matrix.BUILD / "cli/binnacle", "policy", "lint", *files], capture_output=True, text=True, timeout=20)
        self.assertEqual((said.returncode, said.stderr), (0, ""), said.stdout)

    def test_the_scheduler_s_file_has_only_fields_that_it_knows(self):
        # It decodes strictly: an unknown field ends it. Source: kubernetes/kubernetes, pkg/scheduler/apis/config, v1.
        file = yaml.safe_load(RENDERED["defaults"].one("ConfigMap", "binnacle-scheduler")["data"]["scheduler.yaml"])
        self.assertLessEqual(set(file), {"apiVersion", "kind", "leaderElection", "percentageOfNodesToScore", "profiles", "extenders"})
        self.assertEqual(file["percentageOfNodesToScore"], 100)
        extender = file["extenders"][0]
        self.assertLessEqual(set(extender), {"urlPrefix", "filterVerb", "prioritizeVerb", "preemptVerb", "weight", "enableHTTPS", "tlsConfig", "httpTimeout",
                                             "nodeCacheCapable", "managedResources", "ignorable"})
        self.assertEqual([extender[f"{verb}Verb"] for verb in ("filter", "prioritize", "preempt")],
                         ["scheduler/filter", "scheduler/prioritize", "scheduler/preempt"])
        self.assertGreater(extender["weight"], 0)
        self.assertIs(extender["nodeCacheCapable"], True)



class Monitoring(unittest.TestCase):
    def expressions(self):
        """{(namespace, alert): expression} of all rules."""
        return {(o["metadata"]["namespace"], r["alert"]): r["expr"] for o in RENDERED["everything optional"].of("PrometheusRule")
                for g in o["spec"]["groups"] for r in g["rules"]}

    @staticmethod
    def metrics_of(expression):
        found = re.findall(r"\b(?:binnacle|host|rapl|os|bmc|pmu)_[a-z0-9_]+", expression)
        return [re.sub("_bucket$", "", metric) for metric in found]

    def test_rules_and_dashboards_ask_for_metrics_that_there_are(self):
        known = set(re.findall(r"^\| `([a-z_0-9]+)`", (ROOT / "METRICS.md").read_text(), re.M))
        board = json.loads(next(iter(RENDERED["everything optional"].one("ConfigMap", "binnacle-dashboards")["data"].values())))
        asked = [*self.expressions().values(), *(t["expr"] for p in board["panels"] for t in p.get("targets", [])), *(a["expr"] for a in board["annotations"]["list"])]
        self.assertGreater(len(asked), 10)
        for expression in asked:
            for metric in self.metrics_of(expression):
                self.assertIn(metric, known, expression)

    def test_each_alert_stands_beside_the_monitor_that_brings_its_series(self):
        # OpenShift's monitoring of users' workloads lets a rule see only the series of its own namespace.
        objects = RENDERED["everything optional"]
        monitored = {o["metadata"]["labels"]["app.kubernetes.io/component"]: o["metadata"]["namespace"] for o in objects.of("PodMonitor") + objects.of("ServiceMonitor")}
        sections = re.split(r"^## ", (ROOT / "METRICS.md").read_text(), flags=re.M)
        brought = {component: {metric for s in sections if s.startswith(f"The {component} itself") for metric in re.findall(r"^\| `([a-z_0-9]+)`", s, re.M)}
                   for component in monitored}
        brought["aggregator"].add("binnacle_tls_reload_failed")  # of both, as METRICS.md says
        asked = set()
        for (namespace, alert), expression in self.expressions().items():
            with self.subTest(alert):
                component, = (c for c, ns in monitored.items() if ns == namespace)
                self.assertLessEqual(set(self.metrics_of(expression)), brought[component])
                for other in re.findall(r'namespace="([^"]*)"', expression):
                    self.assertEqual(other, namespace)
                for job in re.findall(r'job="([^"]*)"', expression):  # as the Prometheus operator names it
                    self.assertIn(job, [f"{o['metadata']['namespace']}/{o['metadata']['name']}" for o in objects.of("PodMonitor")])
                asked.add(component)
        self.assertEqual(asked, {"agent", "aggregator"})



if __name__ == "__main__":
    matrix.run(__doc__)
