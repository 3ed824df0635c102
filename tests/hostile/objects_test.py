"""Objects of the API server that are as large as whoever creates them likes.

Run by meson (suite hostile), or by hand: python3 tests/hostile/objects_test.py --build build [TestName]
"""

import json
import pathlib
import re
import urllib.parse

from attacked import ROOMIER, Watch, WithApiServer, milliseconds
from trial import run_tests


class LargeObjects(WithApiServer):
    """Who may create objects chooses how large they are. A list of them was once in memory twice, and was read in one turn. Then it was in memory once, but
    numbers take ten times as much there as in a text."""

    def memory(self, what):
        status = pathlib.Path(f"/proc/{self.trial.processes['aggregator'].pid}/status").read_text()
        return int(re.search(rf"^{what}:\s+(\d+) kB", status, re.MULTILINE)[1]) >> 10

    def grow(self, name, mib):
        self.api.put(f"/api/v1/nodes/{name}", {"metadata": {"labels": {"kubernetes.io/hostname": name, "size": "large"}, "annotations": {"a": "x" * (mib << 20)}}})

    def test_a_list_of_them_is_in_memory_once_and_a_watch_takes_none_beyond_its_bound(self):
        for n in range(100):
            self.grow(f"large-{n}", 1)
        self.begin(*self.in_a_cluster())
        of_size = "/apis/custom.metrics.k8s.io/v1beta2/nodes/*/rapl_power_watts?labelSelector="
        listed = lambda size: self.trial.ask("metrics", of_size + urllib.parse.quote(size))  # noqa: E731  (one word for two questions)
        self.wait_for("the nodes to be read", lambda: listed("!size")[0] == 200 and len(json.loads(listed("!size")[1])["items"]) == 1)
        print(f"\n    100 MiB of nodes: {self.memory('VmHWM')} MiB at most, {self.memory('VmRSS')} MiB then", end="", flush=True)
        self.assertLess(self.memory("VmHWM"), 190 * ROOMIER)
        scheduler = self.watch_filter()
        self.grow("good", 13)
        self.wait_for("the watch to refuse it", lambda: "an object larger than 12 MiB" in self.trial.log("aggregator"))
        # The list that follows has it.
        self.wait_for("its label", lambda: len(json.loads(listed("size=large")[1]).get("items", [])) == 1)
        self.asked_again(scheduler)
        self.assert_served(filter=scheduler)
        self.assertLess(self.memory("VmHWM"), 190 * ROOMIER)
        self.assert_the_agent_stayed()

    def test_of_a_list_one_object_at_a_time_is_in_memory(self):
        for n in range(30):
            self.api.put(f"/api/v1/nodes/large-{n}", {"metadata": {"labels": {"size": "large"}}, "spec": {"numbers": [1] * 500_000}})
        self.begin(*self.in_a_cluster())
        of_size = "/apis/custom.metrics.k8s.io/v1beta2/nodes/*/rapl_power_watts?labelSelector=%21size"
        self.wait_for("the nodes to be read", lambda: len(json.loads(self.trial.ask("metrics", of_size)[1]).get("items", [])) == 1)
        print(f"\n    15 million numbers in 30 nodes: {self.memory('VmHWM')} MiB at most", end="", flush=True)
        self.assertLess(self.memory("VmHWM"), 120 * ROOMIER)  # 360 MiB more, once
        self.assert_the_agent_stayed()


class LabelledPods(WithApiServer):
    """A tenant's pods with as many labels as are kept, and his autoscalers, whose selectors have as many requirements as are taken. Each requirement once looked
    through all labels, and a turn counted pods alone: 600 such pods, asked about five at a time, held /livez for a second, and 3,000 kube-scheduler's calls for 2.2."""

    def test_long_selectors_over_many_labels_hold_up_nobody(self):
        labels = {"app": "x", **{f"k{n:03d}{'x' * 20}": f"v{n % 10}" for n in range(500)}}
        for n in range(1000):
            self.api.put(f"/api/v1/namespaces/tenant/pods/p{n:04d}", {"metadata": {"namespace": "tenant", "labels": labels, "uid": f"u{n}"}, "spec": {"nodeName": "good"}})
        self.begin(*self.in_a_cluster())
        requirements = ",".join(["app=x"] + [f"!{'z' * 23}{n}" for n in range(31)])
        path = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/tenant/pods/*/rapl_power_watts?labelSelector="
        chosen = lambda selector: self.trial.ask("metrics", path + urllib.parse.quote(selector))  # noqa: E731
        self.wait_for("the pods to be read", lambda: len(json.loads(chosen("app=x")[1]).get("items", [])) == 1000)
        scheduler, health = self.watch_filter(), self.watch_health()
        askers = [Watch(lambda: chosen(requirements), pause=0) for _ in range(5)]
        for asker in askers:
            self.addCleanup(asker.stop)
        self.asked_again(scheduler, times=100)
        self.asked_again(*askers, times=3)
        for asker in askers:
            asker.stop()
        print(f"\n    filter beside five lists: {milliseconds(scheduler.took)}; /livez: {milliseconds(health.took)}", end="", flush=True)
        self.assertEqual(chosen(requirements)[0], 200)
        self.assert_served(filter=scheduler, health=health)
        self.assertLess(sorted(scheduler.took)[len(scheduler.took) // 2], 500 * ROOMIER, "it once was above a second")
        self.assert_the_agent_stayed()


if __name__ == "__main__":
    run_tests(__doc__, "attacked")
