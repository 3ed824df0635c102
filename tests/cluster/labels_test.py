"""Nodes' labels on a real API server: the real aggregator with real agents labels Node objects, and is taken apart while it does.

Run by scripts/test --cluster, or by hand: python3 tests/cluster/labels_test.py --build build [TestName]
"""

import json
import signal
import sys
import time

from support import heated
from support.heated import HeatedNodes, Watch, apply, ask, delete_policy, hot, policy, requests
from trial import pod

PLANE = None


def setUpModule():
    global PLANE
    PLANE = heated.begin_plane()


class Labels(HeatedNodes):
    def test_a_label_comes_and_goes_with_the_violation(self):
        self.begin({"cool": 40, "warm": 40})
        apply(policy({"deschedule": hot(50), "labeling": {"rules": [
            {"metricname": "heat", "operator": "GreaterThan", "target": 50, "labels": ["heat=high"]},
            {"metricname": "heat", "operator": "LessThan", "target": 45, "labels": ["heat=low"]}]}}))
        heat = "telemetry.aware.scheduling.power-policy/heat"
        self.until("the low label", lambda: self.labels("warm") == self.labels("cool") == {heat: "low"})
        watch = Watch(heat)
        began = time.monotonic()
        self.heat("warm", 60)
        self.until("both labels", lambda: self.labels("warm") == {heat: "high", "power-policy": "violating"})
        print(f"\nfrom the hotter file until both labels are there: {time.monotonic() - began:.2f} s (a sample a second)", file=sys.stderr)
        self.assertEqual(watch.values("warm"), ["high"], "a changed value is one replace")
        self.assertEqual(self.listed("warm"), f"power-policy,{heat}")
        shown = {"nodes": [{"node": "cool", "labels": {heat: "low"}}, {"node": "warm", "labels": self.labels("warm")}]}
        self.until("the same labels in our own list", lambda: json.loads(self.trial.ask("ops", "/api/v1/labels")[1]) == shown)
        self.heat("warm", 40)
        self.until("the labels taken back", lambda: self.labels("warm") == {heat: "low"})
        delete_policy("power-policy")
        self.until("no label and no annotation", lambda: not self.labels("warm") and not self.labels("cool") and not self.listed("warm"))

    def test_a_users_label_of_that_name_is_left_alone_and_the_policy_says_so(self):
        self.begin({"warm": 60})
        self.label("warm", **{"power-policy": "mine"})
        apply(policy({"deschedule": hot(50)}))
        self.until("the conflict", lambda: self.condition("Conflict")[0] == "True")
        self.assertIn("warm has the label power-policy already", self.condition("Conflict")[1])
        self.until("the event", lambda: "Conflict" in self.events())
        self.assertEqual(self.number("binnacle_foreign_labels"), 1)
        delete_policy("power-policy")
        apply(policy({"deschedule": hot(50)}, "other"))
        self.until("the other policy's label", lambda: self.labels("warm") == {"power-policy": "mine", "other": "violating"})

    def test_a_restart_takes_no_label_off_not_even_inside_the_band(self):
        self.begin({"cool": 40, "warm": 60})
        banded = hot(50)
        banded["rules"][0]["clearBelow"] = "20"
        apply(policy({"deschedule": banded}))
        self.until_violating(["warm"])
        self.heat("warm", 40)
        self.until("a value inside the band", lambda: self.trial.metric("heat", "warm")[0]["value"] == "40")
        watch = Watch("power-policy")
        self.trial.end("aggregator")
        self.start_aggregator()
        self.until_led()
        self.until("fresh values", lambda: len(self.trial.metric("heat")) == 2)
        self.label("warm", proof="1")  # something that the watch must show
        self.until("labels of another policy, written after all that", lambda: self.written_through())
        self.assertEqual(watch.values("warm"), ["violating"])
        self.assertEqual(self.violating(), ["warm"])

    def test_labels_of_a_policy_that_vanished_while_nobody_was_there_go(self):
        self.begin({"cool": 40, "warm": 60})
        apply(policy({"deschedule": hot(50)}))
        apply(policy({"deschedule": hot(45)}, "stays"))
        self.until("both labels", lambda: self.violating() == self.violating("stays") == ["warm"])
        self.trial.end("aggregator")
        self.trial.end("warm")
        delete_policy("power-policy")
        self.label("cool", **{"power-policy": "violating"})  # a user's: ours is on warm
        self.start_aggregator()
        self.until("the label taken off a node whose agent is gone", lambda: self.labels("warm") == {"stays": "violating"})
        self.assertEqual(self.labels("cool"), {"power-policy": "violating"})

    def test_a_heat_wave_labels_no_more_than_the_cap_and_says_so(self):
        nodes = {f"n{i}": 40 for i in range(6)}
        self.begin(nodes)
        apply(policy({"deschedule": hot(50, maxNodes=2)}))
        self.until("the policy in force", lambda: self.condition("Ready")[0] == "True")
        watches = Watch("power-policy")
        for name in nodes:
            self.heat(name, 60)
        self.until("two labels", lambda: len(self.violating()) == 2)
        self.until("the condition", lambda: self.condition("Held") == ("True", "violating nodes wait for their label: maxNodes 2"))
        self.until("the event", lambda: "Held" in self.events())
        self.until("four held nodes in the metrics", lambda: self.number("binnacle_policy_held_nodes") == 4)
        first = self.violating()
        self.trial.end("aggregator")
        self.start_aggregator()
        self.until_led()
        self.until("six violating nodes", lambda: self.number("binnacle_policy_violating_nodes") == 6)
        self.until("the same answer", lambda: self.number("binnacle_policy_held_nodes") == 4)
        self.assertEqual(self.violating(), first, "a restart keeps whom it has")
        self.heat(first[0], 40)
        self.until("the next in its place", lambda: len(self.violating()) == 2 and first[0] not in self.violating())
        # The API server's own history: at no moment were there three.
        path = f"/api/v1/nodes?watch=1&resourceVersion={watches.version}&timeoutSeconds=3"
        labelled, most = set(), 0
        for line in PLANE.request("GET", path, timeout=30)[1].splitlines():
            meta = json.loads(line)["object"]["metadata"]
            (labelled.add if "power-policy" in meta.get("labels", {}) else labelled.discard)(meta["name"])
            most = max(most, len(labelled))
        self.assertEqual(most, 2)

    def test_dry_run_writes_nothing_and_ends_what_was_enforced(self):
        self.begin({"warm": 60})
        apply(policy({"deschedule": hot(50)}, mode="DryRun"))
        self.until("the dry run", lambda: self.condition("Ready")[0] == "True" and self.number("binnacle_policy_violating_nodes") == 1)
        self.until("another policy's label", self.written_through)
        self.assertEqual(self.violating(), [])
        self.until("who would be labelled", lambda: self.condition("Ready")[1] == "warm would get the label power-policy=violating")
        apply(policy({"deschedule": hot(50)}, mode="Enforce"))
        self.until_violating(["warm"])
        apply(policy({"deschedule": hot(50)}, mode="DryRun"))
        self.until_violating([])

    def test_only_namespaces_on_the_list_may_label(self):
        self.begin({"warm": 60}, "--label-namespaces", "allowed")
        apply(policy({"deschedule": hot(50)}))
        apply(policy({"deschedule": hot(50)}, "fine", "allowed"))
        self.until("the label of the other", lambda: self.violating("fine") == ["warm"])
        self.until("the refusal", lambda: self.condition("Ready") ==
                   ("False", "namespace default may not label nodes: add it to the allowed namespaces or move the policy"))
        self.assertEqual(self.violating(), [])

    def test_the_same_name_in_another_namespace_labels_nothing_and_says_so(self):
        self.begin({"cool": 40, "warm": 60, "other": 60})
        apply(policy({"deschedule": hot(50, maxNodes=1)}, namespace="default"))
        self.until("a label", lambda: len(self.violating()) == 1)
        first = self.violating()
        time.sleep(1.1)  # the API server's times are whole seconds: this object is younger
        apply(policy({"deschedule": hot(30)}, namespace="allowed"))
        self.until("the conflict", lambda: self.condition("Conflict", namespace="allowed")[0] == "True")
        self.assertIn("belong to namespace default", self.condition("Conflict", namespace="allowed")[1])
        self.until("the owner's status, without a conflict", lambda: self.condition("Conflict")[0] == "False")
        apply(policy({"deschedule": hot(45)}, "witness"))
        self.until("labels written after all that", lambda: len(self.violating("witness")) == 2)
        self.assertEqual(self.violating(), first)
        self.trial.end("aggregator", signal.SIGKILL)
        self.start_aggregator()
        self.until_led()
        self.until("another label, written after the restart", self.written_through)
        self.assertEqual(self.violating(), first, "the oldest object has the name, also after a restart")
        delete_policy("power-policy", "default")
        self.until_violating(["cool", "other", "warm"])

    def test_a_key_of_somebody_elses_kind_is_not_written(self):
        self.begin({"warm": 60})
        apply(policy({"deschedule": hot(50)}, "nvidia.present"))
        self.until("the refusal", lambda: self.condition("Ready", "nvidia.present")[0] == "False")
        self.until("another policy's label", self.written_through)
        self.assertEqual(self.violating("nvidia.present"), [])

    def test_whoever_may_write_policies_is_named_while_all_namespaces_may_label(self):
        rule = [{"apiGroups": ["telemetry.intel.com"], "resources": ["taspolicies"], "verbs": ["create", "patch"]}]
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": rule,
                "metadata": {"name": "tenants-write-policies", "labels": {"rbac.authorization.k8s.io/aggregate-to-edit": "true"}}}
        everybody = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "tenants-write-policies"},
                     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "tenants-write-policies"},
                     "subjects": [{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:authenticated"}]}
        PLANE.apply(role, everybody)
        try:
            self.begin({"warm": 60})
            self.until("the warning", lambda: any(w.startswith("every authenticated user") and "may write TASPolicy objects" in w for w in self.warnings()))
            self.trial.end("aggregator")
            self.start_aggregator("--label-namespaces", "allowed")
            self.until_led()
            self.assertFalse([w for w in self.warnings() if "TASPolicy" in w])
        finally:
            PLANE.kubectl("delete", "clusterrolebinding,clusterrole", "tenants-write-policies")

    def test_silence_freezes_labels(self):
        self.begin({"cool": 40, "warm": 60})
        apply(policy({"deschedule": hot(50)}))
        self.until_violating(["warm"])
        watch = Watch("power-policy")
        self.trial.end("warm")
        self.trial.end("cool")
        self.until("no data", lambda: self.condition("Frozen")[0] == "True")
        self.assertEqual(watch.values("warm"), [])
        self.assertEqual(self.violating(), ["warm"])

    def test_the_leader_dies_and_the_standby_goes_on_where_it_stopped(self):
        nodes = {f"n{i}": 60 for i in range(3)}
        self.nodes = list(nodes)
        self.trial.make_certificates(self.nodes)
        for name in nodes:
            self.add_node(name)
        self.start_aggregator("--replica-id", "first", "--replicas", "2")
        self.until("the first to lead", lambda: self.number("binnacle_kubernetes_leads") == 1)
        ports = self.start_standby()
        apply(policy({"deschedule": hot(50, maxNodes=1)}))
        for name, heat in nodes.items():
            self.heat(name, heat)
            self.start_agent(name, "--aggregator", f"localhost:{ports['ingest']}")
        self.until("a label", lambda: len(self.violating()) == 1)
        kept = self.violating()
        self.trial.ports.update(ports)  # from here on the standby is asked
        self.until("the standby to see three violating nodes", lambda: self.number("binnacle_policy_violating_nodes") == 3)
        watch = Watch("power-policy")
        began = time.monotonic()
        self.trial.end("aggregator", signal.SIGKILL)
        self.until("the standby to lead", lambda: self.number("binnacle_kubernetes_leads") == 1)
        print(f"\nthe standby leads {time.monotonic() - began:.1f} s after the leader was killed", file=sys.stderr)
        self.until("a label that the standby writes", self.written_through)
        self.assertEqual(self.violating(), kept)
        self.assertEqual(watch.values(kept[0]), ["violating"])
        self.heat(kept[0], 40)
        self.until("the label to move", lambda: len(self.violating()) == 1 and self.violating() != kept)

    def test_the_api_server_is_away_and_labels_converge_when_it_is_back(self):
        self.begin({"cool": 40, "warm": 60})
        apply(policy({"deschedule": hot(50)}))
        self.until_violating(["warm"])
        PLANE.end("kube-apiserver", signal.SIGKILL)
        try:
            self.heat("warm", 40)
            self.heat("cool", 60)
            self.trial.wait_for("a warning", lambda: any("cannot be" in w for w in self.warnings()), 60)
        finally:
            PLANE.start_api_server()
        self.until_violating(["cool"], 120)
        self.trial.wait_for("no warning", lambda: not self.warnings(), 120)

    def test_a_node_deleted_under_its_agent_is_labelled_anew_when_it_is_back(self):
        self.begin({"cool": 40, "warm": 60})
        apply(policy({"deschedule": hot(50, maxNodes=1)}))
        self.until_violating(["warm"])
        ask("DELETE", "/api/v1/nodes/warm")
        self.trial.end("warm")
        self.heat("cool", 60)
        self.until_violating(["cool"])  # the place of the one that is gone
        self.add_node("warm")
        self.heat("cool", 40)
        self.start_agent("warm")
        self.until_violating(["warm"])

    def test_nodes_are_listed_once_however_many_policies_there_are(self):
        for i in range(20):
            apply(policy({"deschedule": hot(500 + i)}, f"p{i}"))
        self.begin({"warm": 60})
        before = requests("LIST", "nodes")
        for i in range(20, 40):
            apply(policy({"deschedule": hot(45)}, f"p{i}"))
        self.trial.wait_for("twenty labels", lambda: len(self.labels("warm")) == 20, 60)
        # Anybody may list them now and then; a list for each policy would be twenty.
        self.assertLess(requests("LIST", "nodes") - before, 5)
        self.assertLessEqual(self.number('binnacle_node_patches_total{outcome="written"}'), 20)

    def test_a_pod_that_was_refused_is_woken_when_the_node_would_take_it(self):
        self.begin({"cool": 40, "warm": 60})
        apply(policy({"dontschedule": hot(30)}))
        self.until("the policy in force", lambda: self.condition("Ready")[0] == "True")
        with self.trial.scheduler() as scheduler:
            self.trial.wait_for("the pod refused everywhere",
                                lambda: not scheduler.call("filter", pod("web"), ["cool", "warm"])[0]["NodeNames"])
        self.heat("warm", 20)
        self.until("the wake", lambda: self.labels("warm").get("binnacle/wake") == "1")
        self.assertEqual(self.labels("cool"), {})
        self.assertEqual(self.number("binnacle_node_wakes_total"), 1)
        with self.trial.scheduler() as scheduler:  # as the scheduler that was woken does
            self.assertEqual(scheduler.call("filter", pod("web"), ["cool", "warm"])[0]["NodeNames"], ["warm"])
        self.heat("warm", 60)
        self.until("warm refuses", lambda: self.number("binnacle_policy_violating_nodes") == 2)
        self.heat("warm", 20)  # nobody waits
        self.until("warm takes pods", lambda: self.number("binnacle_policy_violating_nodes") == 1)
        self.until("a label written after that", self.written_through)
        self.assertEqual(self.labels("warm").get("binnacle/wake"), "1")


if __name__ == "__main__":
    heated.run()
