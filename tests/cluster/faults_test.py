"""What goes wrong around an aggregator in a real cluster: an API server that is away, refuses, or has forgotten; nodes that are deleted, or claimed twice.

Run by scripts/test --cluster, or by hand: python3 tests/cluster/faults_test.py --build build [TestName]
BINNACLE_AWAY_SECONDS=120 makes the API server's absence longer.
"""

import collections
import datetime
import itertools
import json
import os
import signal
import time

from support import heated
from support.heated import HeatedNodes, Watch, apply, ask, delete_policy, hot, policy
from support.storm import Storm

PLANE = KUBECONFIG = None
# The audit log has every request with its answer, also requests that were refused because there were too many.
AUDIT = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived", "ResponseStarted"], "rules": [{"level": "Metadata"}]}
ABSENCE = float(os.environ.get("BINNACLE_AWAY_SECONDS", "15"))


def setUpModule():
    global PLANE, KUBECONFIG
    PLANE = heated.begin_plane()
    KUBECONFIG = PLANE.aggregators_kubeconfig(writes=True)


def both(target):
    """Refused to pods, and labelled."""
    return {"dontschedule": hot(target), "deschedule": hot(target)}


class Faults(HeatedNodes):
    def setUp(self):
        super().setUp()
        self.kubeconfig = KUBECONFIG

    def pause_aggregator(self):
        self.trial.processes["aggregator"].send_signal(signal.SIGSTOP)

    def wake_aggregator(self):
        self.trial.processes["aggregator"].send_signal(signal.SIGCONT)

    def restart_api_server(self, *more):
        PLANE.end("kube-apiserver", signal.SIGKILL)
        PLANE.start_api_server(*more)

    def assert_calls(self, calls):
        self.assertEqual(calls.failures, [])
        self.assertGreater(calls.count, 0)

    def until_calm(self):
        self.until("no warning", lambda: not self.warnings(), 120)

    def test_the_api_server_is_away_for_long_and_the_extender_answers_throughout(self):
        self.begin({"cool": 40, "warm": 60})
        apply(policy(both(50)))
        self.until_violating(["warm"])
        with self.calls() as calls:
            PLANE.end("kube-apiserver", signal.SIGKILL)
            try:
                end = time.monotonic() + ABSENCE
                self.until("a warning", lambda: any("cannot be" in w for w in self.warnings()))
                self.heat("cool", 60)
                self.heat("warm", 40)
                self.until_passing(["warm"])
                time.sleep(max(0.0, end - time.monotonic()))
            finally:
                PLANE.start_api_server()
            self.until_violating(["cool"], 120)
            self.until_calm()
        self.assert_calls(calls)
        self.assertEqual((calls.answers[0], calls.answers[-1]), (["cool"], ["warm"]))

    def test_etcd_is_compacted_behind_our_back_and_nothing_is_lost_or_labelled_anew(self):
        self.begin({"cool": 40, "doomed": 60, "warm": 60})
        apply(policy({"deschedule": hot(50)}))
        apply(policy({"deschedule": hot(55)}, "vanishes"))
        self.until("the labels of both", lambda: self.violating() == self.violating("vanishes") == ["doomed", "warm"])
        self.pause_aggregator()
        try:
            delete_policy("vanishes")
            apply(policy({"deschedule": hot(30)}, "comes"))
            ask("DELETE", "/api/v1/nodes/doomed")
            for i in range(20):  # what our watches have not seen
                self.label("cool", counts=str(i))
            PLANE.compact()
            self.restart_api_server()  # its watch cache begins behind all of that
            watch = Watch("power-policy")
        finally:
            self.wake_aggregator()
        self.until("the label of the policy that came", lambda: self.violating("comes") == ["cool", "warm"], 120)
        self.until("the end of the label whose policy vanished", lambda: self.violating("vanishes") == [])
        self.until("a node less", lambda: [n["node"] for n in json.loads(self.trial.ask("ops", "/api/v1/labels")[1])["nodes"]] == ["cool", "warm"])
        self.assertEqual(watch.values("warm"), ["violating"])
        self.assertEqual(self.labels("cool"), {"counts": "19", "comes": "violating"})

    def refusals(self):
        """When each thing was asked for in vain: {(verb, path): [seconds]}."""
        out = collections.defaultdict(list)
        for line in (PLANE.folder / "audit.log").read_text().splitlines():
            event = json.loads(line)
            if event["user"]["username"] == "system:serviceaccount:binnacle:aggregator" and event["responseStatus"]["code"] == 429:
                asked = datetime.datetime.fromisoformat(event["requestReceivedTimestamp"].replace("Z", "+00:00"))
                out[event["verb"], event["requestURI"].split("?")[0]].append(asked.timestamp())
        return out

    def test_an_api_server_that_refuses_us_for_a_while_is_left_alone_for_as_long_as_it_asks(self):
        (PLANE.folder / "audit.json").write_text(json.dumps(AUDIT))
        self.begin({"cool": 40, "warm": 60})
        for i in range(40):
            apply(policy({"deschedule": hot(500 + i)}, f"p{i}"))
        apply(policy(both(50)))
        self.until_violating(["warm"])
        storm = Storm(PLANE)
        self.addCleanup(storm.end)
        with self.calls() as calls:
            self.pause_aggregator()  # so that no watch slips in while the server begins
            try:
                self.restart_api_server(f"--audit-policy-file={PLANE.folder}/audit.json", f"--audit-log-path={PLANE.folder}/audit.log")
                storm.begin()
            finally:
                self.wake_aggregator()
            self.until("what is wrong", lambda: any("429" in w for w in self.warnings()))
            self.heat("cool", 60)
            self.heat("warm", 40)
            self.until_passing(["warm"])
            # The Lease is asked for once a second, storm or not: back-off shows at everything else.
            self.until("four attempts of a watch", lambda: any(len(times) >= 4 for what, times in self.refusals().items() if what[0] == "watch"), 120)
            refusals = self.refusals()
            storm.end()
            self.until_violating(["cool"], 120)
            self.until_calm()
        self.assert_calls(calls)
        self.assertIn(("watch", "/api/v1/nodes"), refusals)
        gaps = {what: [b - a for a, b in itertools.pairwise(times)] for what, times in refusals.items()}
        self.assertGreaterEqual(min(gap for of_one in gaps.values() for gap in of_one), 1.0, "Retry-After is a second")
        self.assertTrue(any(of_one and max(of_one) > 1.5 for of_one in gaps.values()), f"back-off and jitter come on top: {gaps}")
        self.assertLess(len([what for what in refusals if what[1].endswith("/status")]), 5, "one status is tried, not all in turn")

    def test_a_node_deleted_under_an_agent_that_goes_on_is_left_in_peace_until_it_is_back(self):
        self.begin({"cool": 40, "warm": 60})
        for i in range(10):
            apply(policy({"deschedule": hot(50)}, f"p{i}"))
        self.until("ten labels", lambda: len(self.labels("warm")) == 10)
        before = self.number('binnacle_node_patches_total{outcome="refused"}')
        self.assertEqual(self.number("binnacle_unregistered_nodes"), 0)
        ask("DELETE", "/api/v1/nodes/warm")
        self.until("it to be told", lambda: self.number("binnacle_unregistered_nodes") == 1)
        self.assertIn("the API server does not know (warm)", " ".join(self.warnings()))
        for heat in (40, 60, 40, 60):
            self.heat("warm", heat)
            self.until(f"{heat}", lambda: self.trial.metric("heat", "warm")[0]["value"] == str(heat))  # its values are shown
        self.nodes = ["cool"]
        self.until("a label written after all that", self.written_through)
        refused = self.number('binnacle_node_patches_total{outcome="refused"}') - before
        self.assertLessEqual(refused, 1, "at most the patch that was under way")
        self.add_node("warm")
        self.until("its labels", lambda: len(self.labels("warm")) == 11)
        self.until_calm()

    def other_machine(self, node):
        """An agent of the same name and certificate on a machine of another boot."""
        boot = self.trial.folder / "other-proc/sys/kernel/random"
        boot.mkdir(parents=True, exist_ok=True)
        (boot / "boot_id").write_text("11111111-2222-3333-4444-555555555555\n")
        self.trial.start_agent(node, "--sources", "textfile", "--textfile-directory", self.trial.folder / "other", "--proc-root",
                               self.trial.folder / "other-proc", name="other")

    def test_of_two_machines_that_claim_one_node_one_stays_and_everybody_is_told(self):
        self.begin({"cool": 40, "twin": 60})
        apply(policy(both(50)))
        self.until_violating(["twin"])
        self.heat("other", 40)
        self.other_machine("twin")
        self.until("the contest", lambda: self.number("binnacle_contested_nodes") == 1)
        self.until("one to be refused", lambda: self.number('binnacle_sessions_refused_total{reason="contested"}'))
        claimants = {"twin": "other", "other": "twin"}
        told = lambda: [name for name in claimants if "contested" in self.trial.log(name)]
        self.until("the refused one to say so", told)
        leaves = told()[0]
        stays = claimants[leaves]
        verdict = ["cool"] if stays == "twin" else ["cool", "twin"]
        self.until_passing(verdict)
        restart = {"twin": lambda: self.start_agent("twin"), "other": lambda: self.other_machine("twin")}[leaves]
        with self.calls() as calls:
            for times in range(2, 5):
                self.trial.end(leaves)
                restart()
                self.until("another refusal", lambda: self.number('binnacle_sessions_refused_total{reason="contested"}') >= times)
        self.assert_calls(calls)
        self.assertEqual(calls.answers, [verdict])
        self.assertIn("two agents claim it; the one at 127.0.0.1:", " ".join(self.warnings()))
        self.assertIn("two agents claim it", self.trial.cli("status").stdout)
        self.assertIn("two agents claim it", self.trial.cli("doctor", "aggregator").stdout)
        self.trial.end(stays)
        self.trial.end(leaves)
        restart()
        self.until_passing(["cool", "twin"] if leaves == "other" else ["cool"])


if __name__ == "__main__":
    heated.run()
