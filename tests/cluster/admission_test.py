"""What somebody with the aggregator's token can do to nodes: give and take the labels of policies, and nothing else. And to Events: write its own.

The chart's ValidatingAdmissionPolicies on a real API server. Run by scripts/test --cluster, or by hand:
python3 tests/cluster/admission_test.py --build build [TestName]
"""

import itertools
import json
import unittest

from support import releases
from support.releases import CHART, helm
from trial import run_tests

PLANE = TOKEN = None
NODE = "/api/v1/nodes/target"
MERGE = "application/merge-patch+json"


def setUpModule():
    global PLANE, TOKEN
    PLANE, _ = releases.begin_plane()
    helm("install", "binnacle", CHART, "--create-namespace")
    TOKEN = PLANE.token("binnacle-aggregator", "binnacle")


class Events(unittest.TestCase):
    OURS, OTHERS = "binnacle-aggregator", "kube-scheduler"
    PLACE = "/apis/events.k8s.io/v1/namespaces/default/events"
    SERIES = {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:01:00.000000Z"}}
    names = (f"event-{number}" for number in itertools.count())

    @classmethod
    def setUpClass(cls):
        PLANE.wait_for("the policy in force", lambda: cls.write(cls.OTHERS, TOKEN)[0] == 422, 60)

    @classmethod
    def write(cls, controller, token=None):
        """A new event of this controller: (status, text, name)."""
        name = next(cls.names)
        said = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": name, "namespace": "default"}, "eventTime": "2026-01-01T00:00:00.000000Z",
                "reportingController": controller, "reportingInstance": "one", "type": "Normal", "reason": "Said", "action": "Saying", "note": "a text",
                "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "p"}}
        return (*PLANE.request("POST", cls.PLACE, said, token=token), name)

    def patch(self, name, change):
        return PLANE.request("PATCH", f"{self.PLACE}/{name}", change, MERGE, token=TOKEN)

    def refused(self, answer, words):
        code, text, *_ = answer
        self.assertEqual(code, 422, text)
        self.assertIn(words, text)

    def test_its_own_are_written_and_counted_up(self):
        code, text, name = self.write(self.OURS, TOKEN)
        self.assertEqual(code, 201, text)
        code, text = self.patch(name, self.SERIES)
        self.assertEqual(code, 200, text)

    def test_none_is_written_for_another_controller(self):
        self.refused(self.write(self.OTHERS, TOKEN), "binnacle-aggregator may write no Event of another controller")

    def test_no_event_of_another_controller_is_changed(self):
        code, text, name = self.write(self.OTHERS)
        self.assertEqual(code, 201, text)
        for change in (self.SERIES, {"metadata": {"labels": {"a": "b"}}}):
            with self.subTest(change=change):
                self.refused(self.patch(name, change), "binnacle-aggregator may write no Event of another controller")
        after = json.loads(PLANE.request("GET", f"{self.PLACE}/{name}")[1])
        self.assertNotIn("series", after)
        self.assertNotIn("labels", after["metadata"])

    def test_nor_one_that_names_no_controller(self):
        """As components write them by the older API."""
        name = next(self.names)
        code, text = PLANE.request("POST", "/api/v1/namespaces/default/events", {
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "default"}, "reason": "Said", "message": "a text", "type": "Normal",
            "source": {"component": "kubelet"}, "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "p"}})
        self.assertEqual(code, 201, text)
        self.refused(self.patch(name, {"metadata": {"labels": {"a": "b"}}}), "binnacle-aggregator may write no Event of another controller")

    def test_whom_rbac_lets_use_the_older_api_by_mistake_still_takes_no_event_for_its_own(self):
        """By that API a controller's name can be changed."""
        code, text, name = self.write(self.OTHERS)
        self.assertEqual(code, 201, text)
        PLANE.kubectl("create", "clusterrole", "older-events", "--verb=patch", "--resource=events")
        PLANE.kubectl("create", "clusterrolebinding", "older-events", "--clusterrole=older-events", "--serviceaccount=binnacle:binnacle-aggregator")
        try:
            def take():
                return PLANE.request("PATCH", f"/api/v1/namespaces/default/events/{name}", {"reportingComponent": self.OURS}, MERGE, token=TOKEN)

            PLANE.wait_for("the role", lambda: take()[0] != 403, 30)
            self.refused(take(), "binnacle-aggregator may change no Event of another controller")
        finally:
            PLANE.kubectl("delete", "clusterrolebinding,clusterrole", "older-events")


class Nodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        PLANE.add_node("target", **{"team": "blue"})
        PLANE.kubectl("annotate", "node", "target", "owner=blue")
        # The API server compiles a policy some time after it was created. Each probe sets another value:
        # once a probe came through, the same one again would change nothing, and the policy lets it pass.
        values = itertools.count()
        PLANE.wait_for("the policy in force", lambda: cls.patch({"metadata": {"labels": {"probe": str(next(values))}}})[0] == 422, 60)

    @classmethod
    def patch(cls, change, path=NODE, kind=MERGE):
        return PLANE.request("PATCH", path, change, kind, token=TOKEN)

    def allowed(self, change):
        code, text = self.patch(change)
        self.assertEqual(code, 200, text)

    def refused(self, change, words):
        before = json.loads(PLANE.request("GET", NODE)[1])
        code, text = self.patch(change)
        self.assertEqual(code, 422, text)
        self.assertIn(words, text)
        after = json.loads(PLANE.request("GET", NODE)[1])
        self.assertEqual(before["metadata"]["resourceVersion"], after["metadata"]["resourceVersion"])

    def test_labels_of_policies_come_change_and_go(self):
        heat = "telemetry.aware.scheduling.power/heat"
        self.allowed({"metadata": {"labels": {"power": "violating", heat: "high", "binnacle/wake": "1"},
                                   "annotations": {"binnacle/labels": f"power,{heat}"}}})
        self.allowed({"metadata": {"labels": {heat: "low", "binnacle/wake": "2"}}})
        self.allowed({"metadata": {"labels": {"power": None, heat: None, "binnacle/wake": None}, "annotations": {"binnacle/labels": None}}})

    def test_a_policy_s_name_may_be_like_a_label_of_others_and_not_be_one(self):
        for name in ("nvidia-hot", "nvidia", "my.power", "gpu.heat", "intelligent.cooling"):
            with self.subTest(name=name):
                self.allowed({"metadata": {"labels": {name: "violating"}}})
                self.allowed({"metadata": {"labels": {name: None}}})

    def test_a_label_of_others_that_an_older_release_gave_can_be_taken_away(self):
        PLANE.kubectl("label", "node", "target", "pool=violating")
        self.allowed({"metadata": {"labels": {"power": "violating"}}})  # pool stays as it was
        self.allowed({"metadata": {"labels": {"power": None, "pool": None}}})

    def test_no_cordon_and_no_taint(self):
        words = "may not change the spec of a node"
        self.refused({"spec": {"unschedulable": True}}, words)
        self.refused({"spec": {"taints": [{"key": "x", "effect": "NoExecute"}]}}, words)
        self.refused({"metadata": {"labels": {"power": "violating"}}, "spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]}}, words)

    def test_no_label_of_somebody_else_is_set_changed_or_removed(self):
        for labels in ({"team": "red"}, {"node-role.kubernetes.io/control-plane": ""}, {"nvidia.com/gpu.present": "violating"}, {"gpu": "true"},
                       {"kubernetes.io/hostname": "other"}, {"team": "violating"}, {"gpu": "violating"}, {"instance-type": "violating"},
                       {"nvidia.present": "violating"}, {"a.k8s": "violating"}, {"alpha.eksctl.io.amazonaws": "violating"}):
            with self.subTest(labels=labels):
                self.refused({"metadata": {"labels": labels}}, "may set no label of a node but those of policies")
        self.refused({"metadata": {"labels": {"team": None}}}, "may remove no label of a node but those of policies")
        self.refused({"metadata": {"labels": None}}, "may remove no label of a node but those of policies")

    def test_no_other_annotation_no_finalizer_no_status_no_deletion(self):
        self.refused({"metadata": {"annotations": {"owner": "red"}}}, "may change no annotation of a node but binnacle/labels")
        self.refused({"metadata": {"annotations": {"owner": None}}}, "may change no annotation of a node but binnacle/labels")
        self.refused({"metadata": {"finalizers": ["example.com/hold"]}}, "may not change finalizers")
        self.assertEqual(self.patch({"status": {"capacity": {"cpu": "1"}}}, NODE + "/status")[0], 403)
        self.assertEqual(PLANE.request("DELETE", NODE, token=TOKEN)[0], 403)

    def test_the_owners_of_a_node_are_not_replaced_either(self):
        """A Node whose owner does not exist is garbage, and is deleted."""
        def owner(namespace, **more):
            uid = json.loads(PLANE.request("GET", f"/api/v1/namespaces/{namespace}")[1])["metadata"]["uid"]
            return {"apiVersion": "v1", "kind": "Namespace", "name": namespace, "uid": uid} | more

        code, text = PLANE.request("PATCH", NODE, {"metadata": {"ownerReferences": [owner("default")]}}, MERGE)
        self.assertEqual(code, 200, text)
        try:
            for others in ([owner("kube-system")], [owner("default", uid="7c1f2c9e-6d0b-4a51-9a39-0f6f1f9b1d11")], [owner("default"), owner("kube-system")],
                           [owner("default", blockOwnerDeletion=True)], []):
                with self.subTest(owners=others):
                    self.refused({"metadata": {"ownerReferences": others}}, "may not change finalizers or owners of a node")
            self.allowed({"metadata": {"labels": {"power": "violating"}}})
            self.allowed({"metadata": {"labels": {"power": None}}})
        finally:
            PLANE.request("PATCH", NODE, {"metadata": {"ownerReferences": []}}, MERGE)

    def test_whom_rbac_lets_do_more_by_mistake_the_policy_still_holds(self):
        PLANE.kubectl("create", "clusterrole", "too-much", "--verb=*", "--resource=nodes,nodes/status")
        PLANE.kubectl("create", "clusterrolebinding", "too-much", "--clusterrole=too-much", "--serviceaccount=binnacle:binnacle-aggregator")
        try:
            words = "binnacle-aggregator may patch nodes, and nothing else of them"

            def answer(method, path, body=None):
                return PLANE.request(method, path, body, MERGE if method == "PATCH" else "application/json", token=TOKEN)

            PLANE.wait_for("the role", lambda: answer("DELETE", NODE)[0] != 403 or words in answer("DELETE", NODE)[1], 30)
            for method, path, body in (("DELETE", NODE, None), ("PATCH", NODE + "/status", {"status": {"capacity": {"cpu": "1"}}}),
                                       ("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "made-up"}})):
                with self.subTest(method=method, path=path):
                    code, text = answer(method, path, body)
                    self.assertEqual(code, 422, text)
                    self.assertIn(words, text)
        finally:
            PLANE.kubectl("delete", "clusterrolebinding,clusterrole", "too-much")

    def test_others_may_do_what_they_may(self):
        code, text = PLANE.request("PATCH", NODE, {"metadata": {"labels": {"other": "x"}}, "spec": {"unschedulable": True}}, MERGE)
        self.assertEqual(code, 200, text)
        PLANE.kubectl("uncordon", "target")


if __name__ == "__main__":
    run_tests(__doc__)
