"""What the attacks stand on: the real programs on loopback, those who behave and watch what they get, and crowds of attackers, most of them without credentials.

What is asserted are outcomes: who is served, cut off, refused and counted. Times are printed. Asserted is a comparison with the same thing without the attack,
what the attack once took, or what the kubelet gives a probe, so that the old faults would fail on any machine.
An attacker goes on until the server's counters show that it is under pressure, and until those who behave were asked then:
nothing depends on how fast an attacker is, or how busy the machine.
"""

import http.client
import itertools
import os
import pathlib
import re
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from api_server import ApiServer  # noqa: E402
from trial import ROOT, Trial, pod  # noqa: E402  (the path comes first)

BUILD = ROOT / "build"
HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 300  # seconds for what has to come, on a machine that has no time
# AddressSanitizer keeps what is freed from being used again, up to 256 MiB of it, which would count as memory taken; and its programs take more from the start.
ROOMIER = 3 if "ASAN_OPTIONS" in os.environ else 1
if ROOMIER > 1:
    os.environ["ASAN_OPTIONS"] += ":quarantine_size_mb=1"
PROBE = 5  # seconds that the kubelet gives a probe: timeoutSeconds in the chart
LONG = 20  # seconds: an answer once took 33 under attack
WELCOME = 2  # seconds within which a new agent is to be welcomed under attack, where the machine has time; it once took 86
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
    return f"median {ordered[len(ordered) // 2]:.1f} ms, p99 {ordered[len(ordered) * 99 // 100]:.1f} ms, longest {ordered[-1]:.1f} ms of {len(ordered)}"


class Watch:
    """Asks again and again, in a thread of its own, until it is stopped: how long each answer took, which did not come and why, and how many in a row at
    most did not. Give it to addCleanup."""

    def __init__(self, ask, pause=0.1):
        self.took, self.failed, self.row, self.longest_row = [], [], 0, 0
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
                self.row = 0
            except Exception as e:  # whatever it is, it is no answer
                self.failed.append(f"{type(e).__name__}: {e}")
                self.row += 1
                self.longest_row = max(self.row, self.longest_row)
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
        self.numbers = itertools.count(1)

    def begin(self, *more, under=()):
        """An aggregator with one agent that is connected and has been heard."""
        self.trial.start_aggregator(*more, under=under)
        self.trial.start_package("good", 40)
        self.trial.start_agent("good", "--sys-root", self.trial.sysroot("good"))
        self.wait_for("the agent's watts", lambda: len(self.trial.metric("rapl_power_watts")) == 1)

    def wait_for(self, what, ready):
        """Everything that has to come comes in the end: how soon is the machine's matter. A look that failed is repeated: who looks stands in the crowd, too."""

        def looked():
            try:
                return ready()
            except (OSError, http.client.HTTPException):
                return False

        return self.trial.wait_for(what, looked, PATIENCE)

    def livez(self, port=None):
        """Asked as the kubelet does: each time on a connection of its own, which is closed after it."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.trial.ports["health"], timeout=PROBE)
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

    def crowd(self, port, *flags, **options):
        """crowd.py in a process of its own, until the test ends, or end_crowd(). Its name. An attacker has a machine of his own: here he gets less of the CPUs
        than those whom he attacks."""
        words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
        name = f"crowd-{next(self.numbers)}"
        self.trial.start(name, "nice", "-n", "5", sys.executable, HERE / "crowd.py", port, *flags, *words)
        return name

    def made(self, crowd):
        """How many connections that crowd has made so far."""
        told = re.findall(r"^made (\d+)", self.trial.log(crowd), re.MULTILINE)
        return int(told[-1]) if told else 0

    def end_crowd(self, name):
        self.assertEqual(self.trial.end(name, seconds=PATIENCE), 0, self.trial.log(name))
        print(f"\n    {name}: {self.trial.log(name).strip().splitlines()[-1]}", end="")

    def flood(self, port):
        """Three connections of key updates, until the test ends or end_flood()."""
        name = f"flood-{next(self.numbers)}"
        self.trial.start(name, BUILD / "tests/hostile/key-update-flood", port, 3)
        return name

    def counted(self, family, **labels):
        """A value of /metrics; the sum where several have these labels."""
        found = 0.0
        for line in self.trial.ask("ops", "/metrics")[1].splitlines():
            match = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
            if match and match[1] == family and all(f'{key}="{value}"' in (match[2] or "") for key, value in labels.items()):
                found += float(match[3])
        return found

    @staticmethod
    def scrape(port):
        """An agent's own /metrics."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request("GET", "/metrics")
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def scraped(self, port, reason):
        """How many connections that agent closed for this reason."""
        try:
            text = self.scrape(port)
        except OSError:  # asked again
            return 0
        found = re.search(rf'^binnacle_agent_http_dropped_total{{reason="{reason}"}} (\d+)', text, re.MULTILINE)
        return int(found[1]) if found else 0

    def asked_again(self, *watches, times=10):
        """Each watch asked so many times more: what was there when this was called was there meanwhile."""
        before = [len(watch.took) + len(watch.failed) for watch in watches]
        self.wait_for("those who behave to ask on", lambda: all(len(watch.took) + len(watch.failed) >= then + times for watch, then in zip(watches, before)))

    def refused(self, *reasons):
        """How many connections the agents' port refused for these reasons."""
        return sum(self.counted("binnacle_sessions_refused_total", reason=reason) for reason in reasons)

    def assert_served(self, **watches):
        """Who has a connection lost no answer. A probe of health, which is a new connection each time, may fail where the machine has no time for it; at three
        in a row the kubelet would restart the container."""
        for name, watch in watches.items():
            watch.stop()
            if name == "filter":
                self.assertEqual(watch.failed, [], name)
                self.assertLess(max(watch.took), LONG * 1000, name)
            self.assertLess(watch.longest_row, 3, f"{name}: {watch.failed[:3]}")
            self.assertTrue(watch.took, name)
            print(f"\n    {name}: {milliseconds(watch.took)}, {len(watch.failed)} without answer", end="", flush=True)

    def assert_the_agent_stayed(self):
        self.wait_for("the agent's session", lambda: self.counted("binnacle_sessions") == 1)
        self.assertEqual(len(re.findall(r"good \(127.0.0.1:\d+\) connected", self.trial.log("aggregator"))), 1, "the agent connected once and did not leave")


class WithApiServer(Hostile):
    """The API server is ours (api_server.py). The same attacks on a real one: tests/cluster."""

    EXTRA = "authentication.kubernetes.io/"

    def setUp(self):
        super().setUp()
        self.api = ApiServer()
        self.addCleanup(self.api.stop)
        self.api.put("/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication", {"data": {}})
        for node in ("good", "late"):
            self.api.put(f"/api/v1/nodes/{node}", {"metadata": {"labels": {"kubernetes.io/hostname": node}}})

    def in_a_cluster(self):
        return "--kube-config", self.api.kubeconfig(self.trial.folder / "kubeconfig"), "--agents-account", "agents/agent"

    def put_policy(self, name, spec, namespace="default", created="2026-01-01T00:00:00Z"):
        self.api.put(f"/apis/telemetry.intel.com/v1alpha1/namespaces/{namespace}/taspolicies/{name}",
                     {"apiVersion": "telemetry.intel.com/v1alpha1", "kind": "TASPolicy", "spec": spec,
                      "metadata": {"name": name, "namespace": namespace, "creationTimestamp": created, "generation": 1}})

    def memory(self):
        status = pathlib.Path(f"/proc/{self.trial.processes['aggregator'].pid}/status").read_text()
        return int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)[1]) >> 10
