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
from trial import ROOT, Trial, free_port, pod, run_tests  # noqa: E402  (the path comes first)

BUILD = ROOT / "build"
HERE = pathlib.Path(__file__).resolve().parent
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

    def crowd(self, port, wait=True, **options):
        """crowd.py in a process of its own; by default once all its connections are, or were, there."""
        words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
        process = subprocess.Popen([sys.executable, HERE / "crowd.py", str(port), *words], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        if wait:
            self.assertEqual(process.stdout.readline(), "full\n")
        return process

    def end_of(self, process):
        """(connections that it made, how many of them the server closed)"""
        text = process.stdout.read()
        self.assertEqual(process.wait(60), 0, text)
        print(f"\n    {text.strip()}", end="")
        return tuple(map(int, re.findall(r"\d+", text)))

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
            server = {"server": "ops" if face == "ops" else "custom metrics", "reason": "flood"}
            before = self.counted("binnacle_http_dropped_total", **server)
            health, scheduler = self.watch_health(), self.watch_filter()
            flood = subprocess.run([BUILD / "tests/hostile/key-update-flood", str(self.trial.ports[face]), "3", "4"], check=True, capture_output=True,
                                   text=True, timeout=60).stdout
            print(f"\n    {face}: {flood.strip()}", end="")
            connections, _, cut = map(int, re.findall(r"\d+", flood))
            self.assert_served(livez=health, filter=scheduler)
            self.assertGreater(connections, 3)
            self.assertGreater(cut, 0)
            self.assertGreaterEqual(self.counted("binnacle_http_dropped_total", **server) - before, cut // 2)
        self.assert_the_agent_stayed()

    def test_agents_are_not_kept_out_by_a_flood_at_their_own_door(self):
        self.begin()
        flood = subprocess.Popen([BUILD / "tests/hostile/key-update-flood", str(self.trial.ports["ingest"]), "3", "6"], stdout=subprocess.DEVNULL)
        self.addCleanup(flood.wait)
        self.trial.start_agent("late")
        self.trial.wait_for("the second agent", lambda: self.counted("binnacle_sessions") == 2, 30)
        flood.wait(60)
        self.assertEqual(self.counted("binnacle_nodes", state="connected"), 2)


class SilentConnections(Hostile):
    """4,096 silent connections to the port of health once made the kubelet restart a replica; 64 were enough at an agent."""

    def test_twenty_thousand_at_all_faces_take_nothing_from_anybody(self):
        self.begin()
        health, scheduler = self.watch_health(), self.watch_filter()
        faces = ("health", "ops", "metrics", "extender")
        crowds = [self.crowd(self.trial.ports[face], many=5000, seconds=20, first=0, wait=False) for face in faces]
        for crowd in crowds:
            self.assertEqual(crowd.stdout.readline(), "full\n")
        time.sleep(2)
        self.assert_served(livez=health, filter=scheduler)
        self.assertEqual(self.trial.ask("ops", "/api/v1/status")[0], 200)
        for server in ("health", "ops", "custom metrics", "extender"):
            closed = sum(self.counted("binnacle_http_dropped_total", server=server, reason=reason) for reason in ("evicted", "silent"))
            self.assertGreater(closed, 1000, server)
        self.assertEqual(self.counted("binnacle_http_dropped_total", reason="full"), 0)
        self.assert_the_agent_stayed()
        for crowd in crowds:
            crowd.kill()

    def test_a_low_limit_of_open_files_is_shared_by_port(self):
        self.begin(under=["prlimit", "--nofile=1024:1024"])
        self.assertIn("only 1024 files may be open", self.trial.log("aggregator"))
        health, scheduler = self.watch_health(), self.watch_filter()
        # Said, half said, and a session without a certificate: each waits where another would stop it. They come from another address than those who
        # behave: with so few places, a crowd behind the same address is faster than a handshake (SECURITY.md).
        for face, say in (("health", "request"), ("ops", "half-hello"), ("ops", "session"), ("metrics", "session"), ("ingest", "hello"), ("ingest", "nothing"),
                          ("health", "nothing")):
            self.crowd(self.trial.ports[face], many=600 if say != "session" else 250, seconds=60, say=say)
        time.sleep(1)
        self.assert_served(livez=health, filter=scheduler)
        self.assertEqual(self.trial.ask("metrics", "/apis/custom.metrics.k8s.io/v1beta2")[0], 200)
        self.assertGreater(self.counted("binnacle_http_dropped_total", server="health", reason="evicted"), 100)
        self.assertNotIn("can not accept connections", self.trial.log("aggregator"))
        self.assert_the_agent_stayed()

    def test_a_program_may_open_as_many_files_as_the_hard_limit_says(self):
        self.begin(under=["prlimit", "--nofile=1024:5000"])
        limits = pathlib.Path(f"/proc/{self.trial.processes['aggregator'].pid}/limits").read_text()
        self.assertRegex(limits, r"Max open files\s+5000\s+5000")

    def test_an_agents_health_has_a_port_of_its_own_and_neither_port_is_kept_by_a_crowd(self):
        self.begin()
        listen, health_port = free_port(), free_port()
        self.trial.start_agent("late", "--health", f"127.0.0.1:{health_port}", scrape=listen)
        self.trial.wait_for("the second agent", lambda: self.counted("binnacle_sessions") == 2, 30)
        health, scraper = self.watch_health(health_port), self.watch_health(listen)
        for port in (listen, health_port):
            self.crowd(port, many=500, rate=2000, seconds=30)
        time.sleep(4)
        self.assert_served(health=health, listen=scraper)
        connection = http.client.HTTPConnection("127.0.0.1", health_port, timeout=30)
        connection.request("GET", "/metrics")
        self.assertEqual(connection.getresponse().status, 404)
        connection.close()
        self.trial.wait_for("the count of them", lambda: self.scraped(listen, "binnacle_agent_http_dropped_total", "evicted") > 0)

    def scraped(self, port, family, reason):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        found = re.search(rf'^{family}{{reason="{reason}"}} (\d+)', text, re.MULTILINE)
        return int(found[1]) if found else 0


class GreetingPlaces(Hostile):
    """1,500 silent sockets at the agents' port once kept a valid agent out for 86 seconds."""

    def until_late_is_in(self):
        def welcomes():
            return len(re.findall(r"late \(127.0.0.1:\d+\) connected", self.trial.log("aggregator")))

        before, began = welcomes(), time.monotonic()
        self.trial.start_agent("late")
        self.trial.wait_for("the second agent", lambda: welcomes() > before, 12)
        print(f"\n    the agent was in after {time.monotonic() - began:.2f} s, its start included", end="")
        self.trial.end("late")
        self.trial.wait_for("its end", lambda: self.counted("binnacle_sessions") == 1)

    def test_a_valid_agent_gets_in_whatever_strangers_say_at_its_door(self):
        self.begin()
        for say, reason in (("nothing", "silent"), ("noise", "no_client_hello"), ("half-hello", "silent"), ("hello", "evicted")):
            with self.subTest(say=say):
                crowd = self.crowd(self.trial.ports["ingest"], many=1500, rate=500, seconds=25, say=say, networks=3, first=0, wait=False)
                time.sleep(3)
                self.until_late_is_in()
                before = self.counted("binnacle_sessions_refused_total", reason=reason)
                self.trial.wait_for(f"strangers to be counted as {reason}",
                                    lambda: self.counted("binnacle_sessions_refused_total", reason=reason) > max(before, 100), 30)
                crowd.kill()
        self.assertEqual(self.trial.log("aggregator").count("good (127.0.0.1:"), 1)


if __name__ == "__main__":
    run_tests(__doc__)
