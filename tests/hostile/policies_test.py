"""Policies that are costly, many, or always changing, or that name what is somebody else's: other namespaces and the scheduler notice nothing.

Run by meson (suite hostile), or by hand: python3 tests/hostile/policies_test.py --build build [TestName]
"""

import itertools
import json
import statistics

from attacked import ROOMIER, Hostile, Watch, WithApiServer, milliseconds
from trial import run_tests


class GreedyPolicy(Hostile):
    """4,096 label keys once took 7 GB, and were read again after the kill."""

    def conditions(self):
        return self.trial.ask("ops", "/api/v1/policies")[1]

    def test_a_policy_that_costs_too_much_is_not_taken_and_others_are_judged_on(self):
        keys = "\n".join(f"      - {{metricname: rapl_power_watts, operator: GreaterThan, target: 1, labels: [{', '.join(f'k{r}-{n}=hot' for n in range(64))}]}}"
                         for r in range(64))
        self.begin()
        scheduler = self.watch_filter()
        self.trial.write_policy("apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: {name: greedy, namespace: default}\n"
                                f"spec:\n  strategies:\n    labeling:\n      rules:\n{keys}\n", name="greedy.yaml")
        self.wait_for("the refusal", lambda: '"type":"TooCostly"' in self.conditions())
        self.asked_again(scheduler)
        self.assert_served(filter=scheduler)
        self.assertNotIn("k0-0", self.trial.ask("ops", "/api/v1/labels")[1])
        self.assert_the_agent_stayed()


class ManyPolicies(WithApiServer):
    """Policies cost memory before anybody knew what they cost: each text was kept and read, whatever its size, and all that came at once were read in one turn."""

    MANY = 300

    def policy(self, target, kib=0):
        return {"strategies": {"dontschedule": {"policyName": "x" * (kib << 10), "rules": [{"metricname": "rapl_power_watts", "operator": "GreaterThan", "target": target}]}}}

    def flood(self, target):
        for n in range(self.MANY):
            self.put_policy(f"p-{n}", self.policy(target, 1000 if n % 2 else 60), "flood")

    def reason(self, namespace, name):
        status = self.api.get(f"/apis/telemetry.intel.com/v1alpha1/namespaces/{namespace}/taspolicies/{name}").get("status", {})
        return next((c["reason"] for c in status.get("conditions", []) if c["type"] == "Ready"), "")

    def test_they_take_neither_the_memory_nor_the_time_of_others(self):
        self.flood(10_000)
        self.put_policy("p", self.policy(10_000), "quiet")
        self.begin(*self.in_a_cluster())
        self.wait_for("the quiet one's status", lambda: self.reason("quiet", "p") == "InForce")
        self.wait_for("the refusal of a text of 1,000 KiB", lambda: self.reason("flood", "p-1") == "TooCostly")
        self.wait_for("the status of one of 60 KiB", lambda: self.reason("flood", "p-0") == "InForce")
        print(f"\n    {self.memory()} MiB at most", end="", flush=True)
        self.assertLess(self.memory(), 300 * ROOMIER)
        scheduler = self.watch_filter()
        self.flood(20_000)
        self.put_policy("p", self.policy(20_000), "quiet")
        self.asked_again(scheduler)
        self.wait_for("the quiet one's edit", lambda: self.reason("quiet", "p") == "InForce")
        self.assert_served(filter=scheduler)
        self.assertLess(self.memory(), 300 * ROOMIER)
        self.assert_the_agent_stayed()


class PoliciesInEveryAnswer(WithApiServer):
    """What one namespace's policies said of each node was in every list of nodes, in the status and in the metrics, whatever it took: two pages of a dashboard held up
    the scheduler's calls for a second, and at 5,000 nodes took a gigabyte."""

    MANY, NODES = 1400, 200  # one namespace may have 1,500 objects
    PAGES = ("/api/v1/nodes", "/api/v1/status", "/metrics", "/api/v1/labels")

    def setUp(self):
        super().setUp()
        self.trial.make_certificates(["good", "late"], more=["--fleet", f"sim:{self.NODES}"])

    def policy(self, target):
        return {"strategies": {"dontschedule": {"rules": [{"metricname": "rapl_power_watts", "operator": "GreaterThan", "target": target}]}}}

    def strategies(self):
        return {s["policy"]: s for s in json.loads(self.trial.ask("ops", "/api/v1/status")[1])["policies"]["strategies"]}

    def watch_page(self, page):
        """Asked without a pause, by one who has to wait while others have their turn."""

        def ask():
            status, _ = self.trial.ask("ops", page)
            if status != 200:
                raise RuntimeError(f"{page} answered {status}")

        watch = Watch(ask, pause=0)
        self.addCleanup(watch.stop)
        return watch

    def test_a_filter_waits_for_no_list_and_the_lists_fit(self):
        self.put_policy("p", self.policy(10_000), "quiet")
        for n in range(self.MANY):
            self.put_policy(f"p-{n}", self.policy(0), "flood")
        self.begin(*self.in_a_cluster())
        self.trial.start("fleet", self.trial.build / "tests/wan/binnacle-fleet", "--port", self.trial.ports["ingest"], "--pki", self.trial.pki, "--nodes", self.NODES)
        last = f"flood/p-{self.MANY - 1}"
        self.wait_for("the last policy to violate on every node", lambda: self.strategies().get(last, {}).get("violating") == self.NODES + 1)
        scheduler = self.watch_filter()
        # Two of each: as many as one caller may have made at a time.
        watches = {page: [self.watch_page(page) for _ in range(2)] for page in self.PAGES}
        asking = [watch for pair in watches.values() for watch in pair]
        self.asked_again(*asking, times=3)
        self.asked_again(scheduler, times=10)
        for watch in asking:
            watch.stop()
        for page, pair in watches.items():
            self.assertLess(max(watch.longest_row for watch in pair), 3, f"{page}: {[watch.failed[:3] for watch in pair]}")
            print(f"\n    {page}: {milliseconds([took for watch in pair for took in watch.took])}", end="", flush=True)
        self.assert_served(filter=scheduler)
        # A call waited for slices. When it waited for whole pages, a list of nodes took it no longer than twice as long as the call.
        lists = [took for watch in watches["/api/v1/nodes"] for took in watch.took]
        self.assertLess(statistics.median(scheduler.took), statistics.median(lists) / 10)
        print(f"\n    {self.memory()} MiB at most", end="", flush=True)
        self.assertLess(self.memory(), 700 * ROOMIER)
        text = self.trial.ask("ops", "/api/v1/nodes")[1]
        self.assertLess(len(text), 65 << 20)
        answer = json.loads(text)
        self.assertEqual((answer["total"], answer["omitted"]), (self.NODES + 1, 0))
        quiet = [v for node in answer["nodes"] for v in node["verdicts"] if v["policy"] == "quiet/p"]
        self.assertEqual(len(quiet), self.NODES + 1, "no tenant leaves out the verdicts of another one")
        self.wait_for("all sessions", lambda: self.counted("binnacle_sessions") == self.NODES + 1)


class LoudNamespace(WithApiServer):
    """Who edits many policies all the time has their statuses written all the time; nobody else's may wait for that."""

    LOUD = 40

    def edit(self, target):
        for n in range(self.LOUD):
            self.put_policy(f"loud-{n}", {"strategies": {"dontschedule": {"rules": [{"metricname": "rapl_power_watts", "operator": "GreaterThan", "target": target}]}}}, "loud")

    def test_the_status_of_another_namespaces_policy_has_its_turn(self):
        self.edit(10_000)
        self.begin(*self.in_a_cluster())
        self.wait_for("statuses to be written", lambda: len(self.api.patched) > 3)
        targets = itertools.count(20_000)
        loud = Watch(lambda: self.edit(next(targets)), pause=0.2)
        self.addCleanup(loud.stop)
        self.wait_for("edits", lambda: len(loud.took) > 3)
        then = len(self.api.patched)
        path = "/apis/telemetry.intel.com/v1alpha1/namespaces/quiet/taspolicies/quiet/status"
        self.put_policy("quiet", {"strategies": {"dontschedule": {"rules": [{"metricname": "rapl_power_watts", "operator": "GreaterThan", "target": 1}]}}}, "quiet")
        self.wait_for("its status", lambda: path in self.api.patched)
        loud.stop()
        self.assertEqual(loud.failed, [])
        between = self.api.patched[then:self.api.patched.index(path)]
        print(f"\n    {len(between)} statuses were written before it", end="", flush=True)
        # One is on its way, one has its turn; the policy takes a moment to be judged.
        self.assertLess(len(between), self.LOUD / 2)


class ForeignLabels(WithApiServer):
    """A policy of another namespace once labelled every node by taking the name of somebody else's, and a policy's name could be any key."""

    HOT = {"strategies": {"deschedule": {"rules": [{"metricname": "rapl_power_watts", "operator": "GreaterThan", "target": 1}]}}}
    COOL = {"strategies": {"deschedule": {"rules": [{"metricname": "rapl_power_watts", "operator": "GreaterThan", "target": 10000}]}}}

    def labels(self):
        return self.api.get("/api/v1/nodes/good")["metadata"]["labels"]

    def conditions(self, name, namespace="default"):
        status = self.api.get(f"/apis/telemetry.intel.com/v1alpha1/namespaces/{namespace}/taspolicies/{name}").get("status", {})
        return {c["type"]: c for c in status.get("conditions", [])}

    def test_neither_the_name_of_a_policy_of_another_namespace_nor_a_key_of_somebody_else_is_written(self):
        self.put_policy("power-policy", self.COOL)
        self.put_policy("power-policy", self.HOT, "tenant", created="2026-01-02T00:00:00Z")
        self.put_policy("nvidia.present", self.HOT, "tenant")
        self.put_policy("witness", self.HOT)
        self.begin(*self.in_a_cluster())
        self.wait_for("the label of the one that may", lambda: self.labels().get("witness") == "violating")
        self.wait_for("the conflict", lambda: self.conditions("power-policy", "tenant").get("Conflict", {}).get("status") == "True")
        self.wait_for("the refusal", lambda: self.conditions("nvidia.present", "tenant").get("Ready", {}).get("status") == "False")
        # Labels that were written after all that.
        self.put_policy("later", self.HOT)
        self.wait_for("another label", lambda: self.labels().get("later") == "violating")
        self.assertNotIn("power-policy", self.labels())
        self.assertNotIn("nvidia.present", self.labels())
        self.assertEqual(self.labels()["kubernetes.io/hostname"], "good")


if __name__ == "__main__":
    run_tests(__doc__, "attacked")
