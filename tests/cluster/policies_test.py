"""Policies from a real API server: what the aggregator makes of TASPolicy objects, and of an API server in trouble.

Run by scripts/test --cluster, or by hand: python3 tests/cluster/policies_test.py --build build [TestName]
"""

import itertools
import json
import signal
import time
import unittest

from support import heated
from support.control_plane import ROOT, ControlPlane
from support.heated import policy
from trial import Trial, pod, run_tests

BUILD = ROOT / "build"
PLANE = None


def hot(target):
    return heated.hot(target, "rapl_power_watts")


def setUpModule():
    global PLANE
    PLANE = ControlPlane()
    unittest.addModuleCleanup(PLANE.stop)
    PLANE.begin()


class Policies(unittest.TestCase):
    """Two nodes: cool at 88 W, warm at 132 W."""

    def setUp(self):
        PLANE.install_crd()
        PLANE.kubectl("delete", "taspolicies", "--all", "--all-namespaces")
        self.trial = Trial(BUILD)
        self.addCleanup(self.trial.stop)
        self.trial.make_certificates(["cool", "warm"])

    def begin(self, kubeconfig=None):
        self.trial.start_aggregator("--kube-config", kubeconfig or PLANE.kubeconfig)
        for node, watts in (("cool", 40), ("warm", 60)):
            PLANE.add_node(node)
            self.trial.start_package(node, watts)
            self.trial.start_agent(node, "--sys-root", self.trial.sysroot(node))
        self.trial.wait_for("watts of both nodes", lambda: len(self.trial.metric("rapl_power_watts")) == 2)

    def apply(self, thing):
        PLANE.kubectl("apply", "-f", "-", stdin=json.dumps(thing))

    def passing(self):
        with self.trial.scheduler() as scheduler:
            answer, _ = scheduler.call("filter", pod("web"), ["cool", "warm"])
        return sorted(answer["NodeNames"])

    def until_passing(self, nodes, seconds=20.0):
        self.trial.wait_for(f"the filter to pass {nodes}", lambda: self.passing() == nodes, seconds)

    def status(self):
        return json.loads(self.trial.ask("ops", "/api/v1/status")[1])

    def until_warned(self, text, seconds=20.0):
        self.trial.wait_for(f"a warning with '{text}'", lambda: any(text in w for w in self.status().get("warnings", [])), seconds)

    def until_calm(self, seconds=60.0):
        self.trial.wait_for("no warning", lambda: not self.status().get("warnings"), seconds)

    def lists(self):
        line = next(line for line in self.trial.ask("ops", "/metrics")[1].splitlines() if line.startswith("binnacle_kubernetes_lists_total"))
        return int(line.split()[1])

    def policies_text(self):
        return self.trial.ask("ops", "/api/v1/policies")[1]

    def test_a_policy_is_in_force_from_apply_to_delete(self):
        self.begin()
        self.assertEqual(self.status()["mode"], "kubernetes")
        self.assertEqual(self.passing(), ["cool", "warm"])
        self.apply(policy({"dontschedule": hot(110)}))
        self.until_passing(["cool"])
        self.apply(policy({"dontschedule": hot(60)}))
        self.until_passing([])
        PLANE.kubectl("delete", "tasp", "power-policy")
        self.until_passing(["cool", "warm"])

    def test_policies_that_were_there_before_are_read_at_the_start(self):
        self.apply({"apiVersion": "v1", "kind": "List", "items": [policy({"dontschedule": hot(500 + i)}, f"p{i}") for i in range(60)]})
        self.apply(policy({"dontschedule": hot(110)}))
        self.begin()
        self.until_passing(["cool"])
        self.assertEqual(len(json.loads(self.policies_text())["policies"]), 61)

    def test_a_policy_that_is_half_wrong_says_which_part_and_keeps_the_rest(self):
        self.begin()
        self.apply(policy({"dontschedule": hot(110)}))
        self.until_passing(["cool"])
        self.apply(policy({"dontshedule": hot(90), "deschedule": hot(500)}))
        self.trial.wait_for("the problem", lambda: "dontshedule" in self.policies_text())
        self.assertIn("TASPolicy default/power-policy", self.policies_text())
        self.assertIn("did you mean dontschedule?", self.policies_text())
        self.assertIn("deschedule", self.policies_text())
        self.assertEqual(self.passing(), ["cool"])  # a typing error switches nothing off

    def test_a_status_that_is_written_changes_no_revision(self):
        self.begin()
        self.apply(policy({"dontschedule": hot(110)}))
        self.until_passing(["cool"])
        before = json.loads(self.policies_text())["policies"][0]["revision"]
        code, text = PLANE.request("PATCH", "/apis/telemetry.intel.com/v1alpha1/namespaces/default/taspolicies/power-policy/status",
                                   {"status": {"message": "as the test wants", "violatingNodes": 1}}, "application/merge-patch+json")
        self.assertEqual(code, 200, text)
        self.apply(policy({"dontschedule": hot(500)}, "later"))  # seen after the status
        self.trial.wait_for("the later policy", lambda: "later" in self.policies_text())
        revisions = {p["name"]: p["revision"] for p in json.loads(self.policies_text())["policies"]}
        self.assertEqual(revisions["power-policy"], before)

    def object_status(self, name="power-policy"):
        return json.loads(PLANE.kubectl("get", "tasp", name, "-o", "json")).get("status", {})

    def ready(self, name="power-policy"):
        return {c["type"]: (c["status"], c["reason"]) for c in self.object_status(name).get("conditions", [])}.get("Ready")

    def test_the_first_status_of_a_policy_fills_all_columns(self):
        """Half a status, and the rest at the next look seconds later, was what `kubectl get taspolicy` showed. How long the first one takes is printed: the
        machine's matter here (issue 16 wants a second)."""
        self.begin()
        self.apply(policy({"dontschedule": hot(110)}, "first"))
        self.trial.wait_for("the aggregator to lead and write", lambda: self.object_status("first"), 60)
        took = []
        for number in range(10):
            name = f"p{number}"
            path = f"/apis/telemetry.intel.com/v1alpha1/namespaces/default/taspolicies/{name}"
            self.apply(policy({"dontschedule": hot(110)}, name))
            began = time.perf_counter()
            seen = lambda: json.loads(PLANE.request("GET", path)[1]).get("status", {})
            status = self.trial.wait_for(f"a status of {name}", seen, 45)
            took.append(time.perf_counter() - began)
            ready = {c["type"]: c["status"] for c in status["conditions"]}.get("Ready")
            self.assertEqual((ready, status["violatingNodes"], status["strategies"]), ("True", 1, "dontschedule"), status)
            self.assertIn("oldestData", status)
        print(f"\n    from apply to filled columns: median {sorted(took)[5]:.2f} s, longest {max(took):.2f} s of {len(took)}", end="", flush=True)

    def test_the_status_says_what_holds_and_an_event_what_was_wrong(self):
        self.begin()
        self.apply(policy({"dontschedule": hot(110)}))
        self.trial.wait_for("the status", lambda: self.object_status().get("violatingNodes") == 1, 45)
        status = self.object_status()
        self.assertEqual(status["compliance"], "Violated")
        self.assertEqual(status["violating"], ["warm"])
        self.assertEqual(status["observedGeneration"], 1)
        self.assertEqual(self.ready(), ("True", "InForce"))
        self.trial.heat("warm", 20)
        self.trial.wait_for("compliance", lambda: self.object_status().get("compliance") == "Compliant", 30)
        self.apply(policy({"dontshedule": hot(90), "deschedule": hot(500)}))
        self.trial.wait_for("the error", lambda: self.ready() == ("False", "PartlyInvalid"), 30)
        self.assertIn("did you mean dontschedule?", self.object_status()["message"])
        self.assertEqual(self.object_status()["observedGeneration"], 2)
        self.trial.wait_for("the event", lambda: "PolicyInvalid" in PLANE.kubectl("describe", "tasp", "power-policy"), 30)
        version = json.loads(PLANE.kubectl("get", "tasp", "power-policy", "-o", "json"))["metadata"]["resourceVersion"]
        time.sleep(8)
        self.assertEqual(version, json.loads(PLANE.kubectl("get", "tasp", "power-policy", "-o", "json"))["metadata"]["resourceVersion"])

    def test_a_policy_that_would_cost_too_much_is_not_taken_and_its_last_good_version_stays(self):
        self.begin()
        self.apply(policy({"dontschedule": hot(110)}))
        self.until_passing(["cool"])
        self.trial.wait_for("the policy in force", lambda: self.ready() == ("True", "InForce"), 45)
        rules = [dict(hot(50)["rules"][0], labels=[f"key-{r}-{n}=hot" for n in range(64)]) for r in range(64)]
        self.apply(policy({"dontschedule": hot(60), "labeling": {"rules": rules}}))
        self.trial.wait_for("the refusal", lambda: self.ready() == ("False", "TooCostly"), 30)
        message = "the policy would take 4096 label keys, and one may take 256 label keys; its last good version stays in force"
        self.assertTrue(self.object_status()["message"].startswith(message), self.object_status()["message"])
        self.assertEqual(self.passing(), ["cool"])
        self.assertIn('"type":"TooCostly"', self.policies_text())
        self.assertIn('binnacle_policy_conditions{condition="TooCostly"} 1', self.trial.ask("ops", "/metrics")[1])
        labelled = [n["metadata"]["name"] for n in json.loads(PLANE.kubectl("get", "nodes", "-o", "json"))["items"]
                    if any(k.startswith("telemetry.aware.scheduling.") for k in n["metadata"]["labels"])]
        self.assertEqual(labelled, [])
        # Killed, it reads the object again, and is none the worse for it.
        self.trial.end("aggregator", signal.SIGKILL)
        self.trial.start_aggregator("--kube-config", PLANE.kubeconfig)
        self.trial.wait_for("the refusal after the kill", lambda: "no version of it is in force" in self.policies_text(), 30)
        self.apply(policy({"dontschedule": hot(110)}))
        self.until_passing(["cool"])
        self.trial.wait_for("the policy in force again", lambda: self.ready() == ("True", "InForce"), 45)

    def test_the_extender_answers_while_the_api_server_is_gone_and_catches_up_after(self):
        self.begin()
        self.apply(policy({"dontschedule": hot(110)}))
        self.until_passing(["cool"])
        PLANE.end("kube-apiserver", signal.SIGKILL)
        self.until_warned("TASPolicy objects cannot be followed")
        self.assertEqual(self.passing(), ["cool"])
        PLANE.start_api_server()
        self.apply(policy({"dontschedule": hot(60)}))
        self.until_passing([], 60)
        self.until_calm()
        self.assertLessEqual(self.lists(), 2)  # one more at most: a restarted server may not know our version any more

    def test_a_deletion_that_was_missed_with_an_expired_watch_is_noticed(self):
        self.begin()
        self.apply(policy({"dontschedule": hot(110)}))
        self.until_passing(["cool"])
        self.trial.processes["aggregator"].send_signal(signal.SIGSTOP)
        PLANE.kubectl("delete", "tasp", "power-policy")
        for i in range(20):
            self.apply(policy({"dontschedule": hot(500 + i)}, "other"))
        PLANE.compact()
        PLANE.end("kube-apiserver", signal.SIGKILL)
        PLANE.start_api_server()  # its watch cache begins behind what the aggregator saw
        self.trial.processes["aggregator"].send_signal(signal.SIGCONT)
        self.until_passing(["cool", "warm"], 60)
        self.until_calm()
        self.assertEqual(self.lists(), 2)

    def test_a_missing_crd_is_said_with_its_remedy_and_found_when_it_comes(self):
        PLANE.kubectl("delete", "crd", "taspolicies.telemetry.intel.com")
        self.begin()
        self.until_warned("kubectl apply -f charts/binnacle/crds/taspolicy.yaml")
        PLANE.install_crd()
        self.apply(policy({"dontschedule": hot(110)}))
        self.until_passing(["cool"], 30)
        PLANE.kubectl("delete", "crd", "taspolicies.telemetry.intel.com")
        self.until_passing(["cool", "warm"], 60)
        PLANE.install_crd()
        self.apply(policy({"dontschedule": hot(110)}))
        self.until_passing(["cool"], 30)

    def status_patches(self):
        """How many patches of a TASPolicy's status the API server has answered."""
        lines = PLANE.kubectl("get", "--raw", "/metrics").splitlines()
        mine = [line for line in lines if line.startswith("apiserver_request_total{") and 'resource="taspolicies"' in line
                and 'subresource="status"' in line and 'verb="PATCH"' in line]
        return sum(int(float(line.split()[-1])) for line in mine)

    def test_a_crd_that_was_not_updated_is_said_and_costs_no_stream_of_patches(self):
        """helm leaves TAS's CRD alone, whose status has two members. The API server drops all others and answers 200: a policy's status was written
        every five seconds without end, and the event that goes with it."""
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/taspolicies.telemetry.intel.com"
        old = json.loads(PLANE.request("GET", path)[1])
        version = old["spec"]["versions"][0]
        version.pop("additionalPrinterColumns")
        status = version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]
        for name in set(status) - {"compliance", "message"}:
            status.pop(name)
        code, text = PLANE.request("PUT", path, old)
        self.assertEqual(code, 200, text)
        self.begin()
        self.apply(policy({"dontschedule": hot(110)}))
        self.until_passing(["cool"])
        self.until_warned("update the CRD (kubectl apply --server-side", 90)
        self.assertEqual(set(self.object_status()), {"compliance", "message"})
        before = self.status_patches()
        self.assertGreater(before, 0)
        time.sleep(16)  # three more patches, at a patch every five seconds
        self.assertEqual(self.status_patches(), before)
        uid = json.loads(PLANE.kubectl("get", "tasp", "power-policy", "-o", "json"))["metadata"]["uid"]
        events = json.loads(PLANE.kubectl("get", "events", "-o", "json"))["items"]
        self.assertEqual([e["reason"] for e in events if e["involvedObject"].get("uid") == uid], [])
        # With the CRD of today the next write heals everything, and a change of the policy brings it at once. The API server may take a moment to use
        # the new CRD, so the policy is changed until the status is whole.
        PLANE.kubectl("apply", "--server-side", "--force-conflicts", "-f", ROOT / "charts/binnacle/crds/taspolicy.yaml")
        targets = itertools.count(100)

        def is_whole():
            self.apply(policy({"dontschedule": hot(next(targets))}))
            time.sleep(1)
            return self.ready() == ("True", "InForce")
        self.trial.wait_for("the whole status", is_whole, 60)
        self.until_calm()

    def test_a_token_with_just_the_right_to_read_policies_and_its_rotation(self):
        PLANE.kubectl("create", "namespace", "binnacle", check=False)
        for words in (("create", "serviceaccount", "binnacle", "-n", "binnacle"),
                      ("create", "clusterrole", "binnacle-policies", "--verb=get,list,watch", "--resource=taspolicies.telemetry.intel.com"),
                      ("create", "clusterrolebinding", "binnacle-policies", "--clusterrole=binnacle-policies", "--serviceaccount=binnacle:binnacle")):
            PLANE.kubectl(*words, check=False)
        token = self.trial.folder / "token"
        token.write_text("no.such.token\n")
        kubeconfig = PLANE.write_kubeconfig("robot", self.trial.folder / "robot.kubeconfig", tokenFile=str(token))
        self.apply(policy({"dontschedule": hot(110)}))
        self.begin(kubeconfig)
        self.until_warned("401")
        self.assertEqual(self.passing(), ["cool", "warm"])
        token.write_text(PLANE.kubectl("create", "token", "binnacle", "-n", "binnacle"))
        self.until_passing(["cool"], 60)
        PLANE.kubectl("delete", "clusterrolebinding", "binnacle-policies")
        self.trial.end("aggregator")
        self.trial.start_aggregator("--kube-config", kubeconfig)
        self.until_warned("403: taspolicies.telemetry.intel.com is forbidden")
        self.until_warned("grant it")


class Definition(unittest.TestCase):
    """What the API server itself makes of the CRD."""

    def setUp(self):
        PLANE.install_crd()
        PLANE.kubectl("delete", "taspolicies", "--all", "--all-namespaces")

    def create(self, strategies, expect, say=""):
        code, text = PLANE.request("POST", "/apis/telemetry.intel.com/v1alpha1/namespaces/default/taspolicies?dryRun=All&fieldValidation=Strict",
                                   policy(strategies, "tried"))
        self.assertEqual(code, expect, text)
        self.assertIn(say, text)

    def test_every_field_is_explained(self):
        for field in ("", ".spec", ".spec.mode", ".spec.strategies", ".status.conditions"):
            self.assertIn("DESCRIPTION", PLANE.kubectl("explain", f"tasp{field}"))
        tree = json.loads(PLANE.request("GET", "/openapi/v3/apis/telemetry.intel.com/v1alpha1")[1])
        schema = tree["components"]["schemas"]["com.intel.telemetry.v1alpha1.TASPolicy"]["properties"]

        def undescribed(node, path):
            if path and not node.get("description") and not path.endswith("[]"):
                yield path
            for name, child in node.get("properties", {}).items():
                yield from undescribed(child, f"{path}.{name}")
            for key, mark in (("items", "[]"), ("additionalProperties", ".*")):
                if isinstance(node.get(key), dict):
                    yield from undescribed(node[key], path + mark)
        self.assertEqual([p for part in ("spec", "status") for p in undescribed(schema[part], part)], [])

    def test_columns_short_name_and_category(self):
        PLANE.kubectl("apply", "-f", "-", stdin=json.dumps(policy({"dontschedule": hot(110)}, "shown")))
        self.addCleanup(PLANE.kubectl, "delete", "tasp", "shown")
        PLANE.request("PATCH", "/apis/telemetry.intel.com/v1alpha1/namespaces/default/taspolicies/shown/status",
                      {"status": {"violatingNodes": 3, "strategies": "dontschedule", "oldestData": "2026-01-01T00:00:00Z",
                                  "conditions": [{"type": "Ready", "status": "True", "reason": "InForce", "message": "",
                                                  "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}, "application/merge-patch+json")
        lines = PLANE.kubectl("get", "telemetry").splitlines()
        self.assertEqual(lines[0].split(), ["NAME", "READY", "VIOLATING", "STRATEGIES", "DATA", "AGE"])
        self.assertEqual(lines[1].split()[:4], ["shown", "True", "3", "dontschedule"])

    def test_what_tas_accepted_is_accepted(self):
        self.create({"dontschedule": {"rules": []}}, 201)
        self.create({"dontschedule": {"policyName": "x", "logicalOperator": "allOf", "rules": [
            {"metricname": "-a_1", "operator": "Equals"}, {"metricname": "b", "operator": "LessThan", "target": -5}]}}, 201)
        self.create({"somethingelse": {"rules": [{"metricname": "a", "operator": "Equals", "labels": ["no-equals-sign", "a=b=c"]}]}}, 201)
        self.create({}, 201)

    def test_nonsense_in_new_fields_is_refused_with_a_sentence(self):
        rule = {"metricname": "a", "operator": "GreaterThan"}
        for op in ("LessOrEqual", "GreaterOrEqual"):
            self.create({"dontschedule": {"rules": [dict(rule, operator=op, target=1)]}}, 201)
        for more, say in (({"operator": "Resembles"}, "operator"), ({"operator": ">="}, "operator"), ({"target": 1, "targetQuantity": "2"}, "remove one"), ({"statistic": "max"}, "add window: 30s"),
                          ({"targetQuantity": "warm"}, "targetQuantity"), ({"window": "5"}, "window"), ({"for": "soon"}, "for"),
                          ({"clearBelow": "x"}, "clearBelow"), ({"staleafter": "5s"}, "unknown field")):
            with self.subTest(more):
                self.create({"dontschedule": {"rules": [dict(rule, **more)]}}, 400 if "unknown" in say else 422, say)
        self.create({"dontschedule": {"policyName": "x"}}, 422, "a strategy needs rules")
        self.create({"minimizepower": {}}, 201)
        self.create({"minimizepower": {"objective": "Marginal", "model": "Learned", "maxLoad": 0.8, "podUsageAssumption": 1, "onMissing": "Allow"}}, 201)
        for more in ({"objective": "Cheapest"}, {"model": "Best"}, {"maxLoad": 90}, {"podUsageAssumption": -1}):
            with self.subTest(more):
                self.create({"minimizepower": more}, 422, next(iter(more)))
        for more in ({"onMissing": "Perhaps"}, {"maxNodes": "120%"}, {"maxNodes": "0"}, {"coolDown": "1"}):
            with self.subTest(more):
                self.create({"deschedule": dict({"rules": [rule]}, **more)}, 422, next(iter(more)))


if __name__ == "__main__":
    run_tests()
