"""Attacks against the real programs on loopback, by somebody without credentials. What is asserted are outcomes: who is served, cut off, refused and
counted. Times are printed, and bounded only so generously that a busy machine passes.

Run by meson (suite hostile), or by hand: python3 tests/hostile/hostile_test.py --build build [TestName]
"""

import http.client
import pathlib
import re
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from trial import ROOT, Trial, pod, run_tests  # noqa: E402  (the path comes first)

BUILD = ROOT / "build"
POLICY = """apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: power-policy, namespace: default}
spec:
  strategies:
    dontschedule:
      rules:
      - {metricname: rapl_power_watts, operator: GreaterThan, target: 10000}
"""


def milliseconds(all_of_them):
    ordered = sorted(all_of_them)
    return f"median {ordered[len(ordered) // 2]:.1f} ms, longest {ordered[-1]:.1f} ms of {len(ordered)}"


class Watch:
    """Asks again and again, in a thread of its own, until it is stopped: how long each answer took, and which did not come. Give it to addCleanup."""

    def __init__(self, ask, pause=0.1):
        self.took, self.failed = [], []
        self.ask, self.pause = ask, pause
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        while not self.over.is_set():
            began = time.perf_counter()
            try:
                self.ask()
                self.took.append((time.perf_counter() - began) * 1000)
            except Exception as e:  # whatever it is, it is no answer
                self.failed.append(f"{type(e).__name__}: {e}")
            self.over.wait(self.pause)

    def stop(self):
        self.over.set()
        self.thread.join()


class Hostile(unittest.TestCase):
    def setUp(self):
        self.trial = Trial(BUILD)
        self.addCleanup(self.trial.stop)
        self.trial.make_certificates(["good", "late"])
        self.trial.write_policy(POLICY)

    def begin(self, *more, under=()):
        """An aggregator with one agent that is connected and has been heard."""
        self.trial.start_aggregator(*more, under=under)
        self.trial.start_package("good", 40)
        self.trial.start_agent("good", "--sys-root", self.trial.sysroot("good"))
        self.trial.wait_for("the agent's watts", lambda: len(self.trial.metric("rapl_power_watts")) == 1)

    def livez(self, port=None):
        """Asked as the kubelet does: each time on a connection of its own, which is closed after it."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.trial.ports["health"], timeout=5)
        try:
            connection.request("GET", "/livez", headers={"Connection": "close"})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise RuntimeError(f"/livez answered {answer.status}")
        finally:
            connection.close()

    def watch_health(self, port=None):
        watch = Watch(lambda: self.livez(port))
        self.addCleanup(watch.stop)
        return watch

    def watch_filter(self):
        """On one connection, as kube-scheduler has one."""
        scheduler = self.trial.scheduler()
        self.addCleanup(scheduler.__exit__)

        def ask():
            answer, _ = scheduler.call("filter", pod("web"), ["good"])
            if answer["NodeNames"] != ["good"]:
                raise RuntimeError(f"the filter answered {answer}")

        watch = Watch(ask, pause=0.02)
        self.addCleanup(watch.stop)
        return watch

    def counted(self, family, **labels):
        """A value of /metrics; the sum where several have these labels."""
        found = 0.0
        for line in self.trial.ask("ops", "/metrics")[1].splitlines():
            match = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
            if match and match[1] == family and all(f'{key}="{value}"' in (match[2] or "") for key, value in labels.items()):
                found += float(match[3])
        return found

    def assert_served(self, **watches):
        """Nobody went without an answer while it lasted."""
        for name, watch in watches.items():
            watch.stop()
            self.assertEqual(watch.failed, [], name)
            self.assertTrue(watch.took, name)
            print(f"\n    {name}: {milliseconds(watch.took)}", end="", flush=True)

    def assert_the_agent_stayed(self):
        self.assertEqual(self.counted("binnacle_sessions"), 1)
        self.assertEqual(self.trial.log("aggregator").count("good (127.0.0.1:"), 1, "the agent connected once and did not leave")


class KeyUpdates(Hostile):
    """Records that carry no data keep SSL_read busy: three connections once froze all faces for half a minute."""

    def test_a_flood_of_key_updates_is_cut_off_and_counted_and_nobody_else_notices(self):
        self.begin()
        for face in ("ops", "metrics"):
            before = self.counted("binnacle_http_floods_total", server="ops" if face == "ops" else "custom metrics")
            health, scheduler = self.watch_health(), self.watch_filter()
            flood = subprocess.run([BUILD / "tests/hostile/key-update-flood", str(self.trial.ports[face]), "3", "4"], check=True, capture_output=True,
                                   text=True, timeout=60).stdout
            print(f"\n    {face}: {flood.strip()}", end="")
            connections, _, cut = map(int, re.findall(r"\d+", flood))
            self.assert_served(livez=health, filter=scheduler)
            self.assertGreater(connections, 3)
            self.assertGreater(cut, 0)
            after = self.counted("binnacle_http_floods_total", server="ops" if face == "ops" else "custom metrics")
            self.assertGreaterEqual(after - before, cut // 2)
        self.assert_the_agent_stayed()

    def test_agents_are_not_kept_out_by_a_flood_at_their_own_door(self):
        self.begin()
        flood = subprocess.Popen([BUILD / "tests/hostile/key-update-flood", str(self.trial.ports["ingest"]), "3", "6"], stdout=subprocess.DEVNULL)
        self.addCleanup(flood.wait)
        self.trial.start_agent("late")
        self.trial.wait_for("the second agent", lambda: self.counted("binnacle_sessions") == 2, 30)
        flood.wait(60)
        self.assertEqual(self.counted("binnacle_nodes", state="connected"), 2)


if __name__ == "__main__":
    run_tests(__doc__)
