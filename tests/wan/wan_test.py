"""Agents behind an impaired path: delay, loss, a thin line, a cut, a crowd that comes back at once, replicas behind one address.

Real agents in a network namespace of their own, a real aggregator. Run by meson (suite slow), or by hand:
  python3 tests/wan/wan_test.py --build build [TestName]
  BINNACLE_WAN_CUT=600 python3 tests/wan/wan_test.py Wan.test_a_cut     ten minutes instead of fifteen seconds
"""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import threading
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent / "scripts"), str(TESTS / "integration")]
from line import Line, server_name  # noqa: E402  (the path comes first)
from loop import METRIC, policy, rule  # noqa: E402
from site_behind import Site, missing  # noqa: E402
from trial import ROOT, Trial, pod, run_tests  # noqa: E402

BUILD = ROOT / "build"
CUT = float(os.environ.get("BINNACLE_WAN_CUT", "15"))  # seconds; values are stale after ten
PATIENCE = 180  # seconds: a wait that fails is a fault, not a slow machine
READING = 1  # seconds that an agent's reading of a file may take
SLACK = 5  # seconds between a change at the source and its read, on a machine that is busy
# Watts of a node: its packages run at 600 W then, else at 40 W. A simulator that a busy machine let wait gives all it owes in one reading: far from this.
HOT = 1000


class Textfile:
    """A users' file of numbers that no compressor makes small, new every second; `wan_tick` counts them, `ticks` has when each was there."""

    def __init__(self, folder, series):
        self.folder, self.series, self.ticks = folder, series, []
        self._stop = threading.Event()
        folder.mkdir()
        self._write()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _write(self):
        text = f"wan_tick {len(self.ticks) + 1}\n" + "".join(f'wan_noise{{n="{i}"}} {random.getrandbits(40)}\n' for i in range(self.series))
        (self.folder / "noise.part").write_text(text)
        (self.folder / "noise.part").rename(self.folder / "noise.prom")
        self.ticks.append(time.monotonic())

    def _run(self):
        while not self._stop.wait(1):
            self._write()

    def stop(self):
        self._stop.set()
        self._thread.join()


class Wan(unittest.TestCase):
    def setUp(self):
        # Not skipped: who runs these asks for them by name, and a gate that tried nothing must not pass.
        if reason := missing():
            self.fail(reason)
        self.trial = Trial(BUILD)
        self.addCleanup(self.trial.stop)
        self.site = Site()
        self.addCleanup(self.site.stop)

    def begin(self, text="", *more):
        """An aggregator and two agents: `near` beside it, `far` at the site (start_far)."""
        self.trial.make_certificates(["near", "far"])
        self.trial.write_policy(text or policy(rule("dontschedule", HOT)))
        self.trial.start_aggregator(*more, address="0.0.0.0")
        for node in ("near", "far"):
            self.trial.start_package(node, 40)
        self.trial.start_agent("near", "--sys-root", self.trial.sysroot("near"))

    def line(self, **how):
        made = Line([self.trial.ports["ingest"]], listen=self.site.here, **how)
        self.addCleanup(made.stop)
        return made

    def start_far(self, *more, ports=None):
        """The agent of the site, which dials these ports of ours (default: the aggregator's own)."""
        pki = self.trial.pki
        dialled = [word for port in ports or [self.trial.ports["ingest"]] for word in ("--aggregator", f"{self.site.here}:{port}")]
        self.trial.start("far", *self.site.run, BUILD / "agent/binnacle-agent", "--node-name", "far", *dialled, "--server-name", "localhost",
                         "--cert", pki / "node-far.crt", "--key", pki / "node-far.key", "--ca", pki / "server-ca.crt", "--listen", "127.0.0.1:9103",
                         "--sys-root", self.trial.sysroot("far"), *more)
        self.wait_for("watts of both nodes", lambda: all(self.read(node)[0] is not None for node in ("near", "far")))

    def wait_for(self, what, ready):
        return self.trial.wait_for(what, ready, PATIENCE)

    # What is seen

    def node(self, name):
        status, text = self.trial.ask("ops", f"/api/v1/nodes/{name}")
        return json.loads(text) if status == 200 else {}

    def read(self, name, family=METRIC):
        """(value, age in seconds) of the sum over a family's series at the aggregator; (None, age) if one has no value."""
        of_it = [s for s in self.node(name).get("series", []) if s["family"] == family]
        if family == METRIC:
            of_it = [s for s in of_it if "package" in s["labels"]]
        age = max((s.get("ageMs", 0) for s in of_it), default=0) / 1000
        return (sum(float(s["value"]) for s in of_it) if of_it and all("value" in s for s in of_it) else None), age

    def own(self, name):
        """A number of the far agent's own /metrics, read at the site: the sum over its series."""
        text = subprocess.run([*self.site.run, "curl", "-s", "-m", "30", "http://127.0.0.1:9103/metrics"], capture_output=True, text=True, timeout=60,
                              check=True).stdout
        return sum(float(value) for value in re.findall(rf"^{name}(?:\{{.*\}})? (\S+)$", text, re.M))

    def counted(self, name):
        """A counter of the aggregator's: the sum over its series."""
        text = self.trial.ask("ops", "/metrics")[1]
        return sum(float(value) for value in re.findall(rf"^{name} (\S+)$", text, re.M))

    def labelled(self, node):
        return any(n["node"] == node and n["labels"] for n in json.loads(self.trial.ask("ops", "/api/v1/labels")[1])["nodes"])

    def passing(self):
        with self.trial.scheduler() as scheduler:
            return sorted(scheduler.call("filter", pod("web"), ["near", "far"])[0]["NodeNames"])

    def memory(self, program):
        status = pathlib.Path(f"/proc/{self.trial.processes[program].pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1024  # MiB

    # What must hold all the time

    def heat(self, watts):
        self.trial.heat("far", watts)
        self.heated = time.monotonic()

    def assert_honest(self, was_hot):
        """A hot reading from before far cooled down does not pass for a newer one. (A cool one may be: of a simulator that waits.)"""
        if not was_hot:
            return
        asked = time.monotonic()
        watts, age = self.read("far")
        if watts is not None and watts > HOT:
            self.assertGreater(age + SLACK, asked - self.heated, f"{watts} W from before the change, said to be {age} s old; the agent itself "
                               f"reads {self.own(METRIC)} W, of {(self.trial.sysroot('far') / 'watts').read_text().strip()} a package; {self.node('far')}")

    def assert_near_undisturbed(self):
        watts, age = self.read("near")
        self.assertIsNotNone(watts)
        self.assertLess(age, 10)

    def assert_one_session_each(self):
        """No link was lost or replaced since the start."""
        self.assertEqual(self.counted(r'binnacle_sessions_refused_total\{reason="superseded"\}'), 0)
        self.assertEqual(self.own("binnacle_agent_reconnects_total"), 0)

    def until(self, what, ready, was_hot):
        def looked():
            self.assert_honest(was_hot)
            self.assert_near_undisturbed()
            return ready()
        self.wait_for(what, looked)

    # The cases

    def test_200_ms_2_percent_and_64_kbit_at_once(self):
        self.begin()
        line = self.line(delay=0.2, rate=8000)
        self.site.lose(2)
        self.start_far(ports=[line.port])
        for _ in range(2):
            self.heat(600)
            self.until("the refusal", lambda: self.passing() == ["near"], was_hot=False)
            self.heat(40)
            self.until("the pass", lambda: self.passing() == ["far", "near"], was_hot=True)
        self.assert_one_session_each()

    def test_a_cut(self):
        """Labels stay as they are and do not flap, nobody else notices, totals are right afterwards, nothing grows."""
        steady = rule("deschedule", HOT).replace(f"target: {HOT}", f"target: {HOT}, window: 3s")
        self.begin(policy(rule("dontschedule", HOT) + steady))
        self.start_far()
        self.heat(600)
        self.until("the label", lambda: self.labelled("far"), was_hot=False)
        before = {program: self.memory(program) for program in ("aggregator", "far")}
        total = self.read("far", "rapl_energy_joules_total")[0]

        self.site.cut()
        self.heat(40)
        end, stale = time.monotonic() + CUT, False
        while time.monotonic() < end:
            self.assertTrue(self.labelled("far"), "the label went during the cut")
            self.assert_honest(was_hot=True)
            self.assert_near_undisturbed()
            stale = stale or self.read("far")[0] is None
            time.sleep(0.3)
        self.assertTrue(stale, "the cut was not long enough to show anything")
        used = self.own("rapl_energy_joules_total")
        self.assertGreater(used, total)

        self.site.heal()
        self.until("the label to go", lambda: not self.labelled("far"), was_hot=True)
        # Joules of the time of the cut are in the first total after it.
        self.assertGreaterEqual(self.read("far", "rapl_energy_joules_total")[0] + 1, used)
        for _ in range(10):
            self.assertFalse(self.labelled("far"), "the label came back")
            time.sleep(0.3)
        self.assertEqual(self.passing(), ["far", "near"])
        for program, was in before.items():
            self.assertLess(self.memory(program), was + 16, f"MiB of {program}")

    def test_more_than_a_thin_line_takes(self):
        """The newest values go, the others are counted as conflated; nothing queues up, memory does not grow."""
        self.begin()
        noise = Textfile(self.trial.folder / "noise", 1000)  # about twice what the line carries
        self.addCleanup(noise.stop)
        line = self.line(delay=0.2, rate=8000)
        self.start_far("--textfile-directory", noise.folder, ports=[line.port])
        self.wait_for("the first numbers of the file", lambda: self.read("far", "wan_tick")[0] is not None)
        before = self.memory("far")
        begun, seen = len(noise.ticks), []

        def looked():
            self.assert_near_undisturbed()
            asked = time.monotonic()
            tick, age = self.read("far", "wan_tick")
            if tick is not None:
                seen.append(tick)
                # It was read before the next one was there: so long ago at least, though batches always wait on the line.
                if tick < len(noise.ticks):
                    self.assertGreater(age + READING, asked - noise.ticks[int(tick)], f"tick {tick} of {len(noise.ticks)} is said to be {age} s old")
            return len(noise.ticks) > begun + 60 and self.own("binnacle_agent_conflated_values_total") > 0
        self.wait_for("values to be conflated", looked)
        self.assertEqual(seen, sorted(seen))
        # A queue would have grown by half a second every second.
        self.assertLess(len(noise.ticks) - seen[-1], 25)
        self.assertLess(self.memory("far"), before + 16)
        self.assert_one_session_each()

    def test_a_budget_makes_unwatched_series_wait(self):
        budget = 600
        self.begin()
        noise = Textfile(self.trial.folder / "noise", 200)
        self.addCleanup(noise.stop)
        line = self.line()
        self.start_far("--textfile-directory", noise.folder, "--uplink-budget", str(budget), "--rapl-least-period", "1s", ports=[line.port])
        waiting = r'binnacle_agent_send_wait_periods\{series="others"\}'

        def own(series):
            text = subprocess.run([*self.site.run, "curl", "-s", "-m", "30", "http://127.0.0.1:9103/metrics"], capture_output=True, text=True, timeout=60,
                                  check=True).stdout
            found = re.search(rf"^{series} (\S+)$", text, re.M)
            return float(found[1]) if found else 0
        self.wait_for("series to wait", lambda: own(waiting) > 1)
        self.assertEqual(own(r'binnacle_agent_send_wait_periods\{series="watched"\}'), 1)
        rates = []
        # What it measured first may have been too little to go by: then the next look mends it.
        while not rates or (rates[-1] > budget and len(rates) < 5):
            sent, since = line.bytes["up"], time.monotonic()
            while time.monotonic() < since + 20:
                self.assert_near_undisturbed()
                # Late, but not stale: the period that it is sent at was announced.
                self.assertIsNotNone(self.read("far", "wan_noise")[0])
                time.sleep(1)
            rates.append((line.bytes["up"] - sent) / (time.monotonic() - since))
        self.assertLess(rates[-1], budget, rates)
        self.assertIn("uplink-budget", json.dumps(self.node("far")["sources"]))
        self.heat(600)
        self.until("the refusal", lambda: self.passing() == ["near"], was_hot=False)

    def test_five_hundred_come_back_at_once(self):
        """No stampede: all are back, nobody was turned away, nobody else lost a link, and the scheduler has its answers meanwhile."""
        many = 500
        self.begin()
        self.trial.make_certificates(["near", "far"], more=["--fleet", f"sim:{many}"])
        self.start_far()
        line = Line([self.trial.ports["ingest"]], delay=0.1)
        self.addCleanup(line.stop)
        self.trial.start("fleet", BUILD / "tests/wan/binnacle-fleet", "--port", line.port, "--pki", self.trial.pki, "--nodes", many)

        def streaming():
            self.assert_near_undisturbed()
            self.assertEqual(self.passing(), ["far", "near"])
            return f"streaming={many} " in self.trial.log("fleet").splitlines()[-1] if self.trial.log("fleet") else False
        self.wait_for("the fleet", streaming)
        grown = self.memory("aggregator")
        accepted, failed = line.accepted, self.fleet_failures()
        line.reset()
        self.wait_for("the fleet to notice", lambda: self.fleet_failures() >= failed + many)
        self.wait_for("the fleet to be back", streaming)
        # A slow machine makes some try again; without pauses that grow it would be thousands a second.
        self.assertLessEqual(line.accepted - accepted, 10 * many)
        self.assertEqual(self.counted(r'binnacle_dropped_total\{buffer="handshake_queue"\}'), 0)
        self.assertEqual(self.own("binnacle_agent_reconnects_total"), 0)
        self.assertLess(self.memory("aggregator"), grown + 64)

    def fleet_failures(self):
        said = re.findall(r"failed=(\d+)", self.trial.log("fleet"))
        return int(said[-1]) if said else 0

    def two_replicas(self):
        """The ports of two aggregators' ingest; the second has a Trial of its own."""
        self.trial.make_certificates(["near", "far"], server_names=["a.example", "b.example"])
        self.trial.write_policy(policy(rule("dontschedule", HOT)))
        self.trial.start_aggregator("--replica-id", "a", "--replicas", "2")
        self.second = Trial(BUILD)
        self.addCleanup(self.second.stop)
        self.second.pki = self.trial.pki
        self.second.write_policy(policy(rule("dontschedule", HOT)))
        self.second.start_aggregator("--replica-id", "b", "--replicas", "2")
        self.trial.start_package("far", 40)
        return [self.trial.ports["ingest"], self.second.ports["ingest"]]

    def links(self):
        return {r: self.own(rf'binnacle_agent_connected\{{aggregator="{r}"\}}') for r in ("a", "b")}

    def superseded(self):
        name = r'binnacle_sessions_refused_total\{reason="superseded"\}'
        texts = [t.ask("ops", "/metrics")[1] for t in (self.trial, self.second)]
        return sum(float(v) for text in texts for v in re.findall(rf"^{name} (\S+)$", text, re.M))

    def dial(self, *addresses, more=()):
        pki = self.trial.pki
        self.trial.start("far", *self.site.run, BUILD / "agent/binnacle-agent", "--node-name", "far",
                         *[word for a in addresses for word in ("--aggregator", a)], *more, "--cert", pki / "node-far.crt", "--key", pki / "node-far.key",
                         "--ca", pki / "server-ca.crt", "--listen", "127.0.0.1:9103", "--sys-root", self.trial.sysroot("far"))
        self.wait_for("a link to each replica", lambda: self.site_answers() and self.links() == {"a": 1, "b": 1})

    def site_answers(self):
        return subprocess.run([*self.site.run, "curl", "-s", "-o", "/dev/null", "http://127.0.0.1:9103/livez"], timeout=60, check=False).returncode == 0

    def assert_settled(self):
        """Both replicas hear the agent, over one session each that nothing replaces any more."""
        batches = self.own("binnacle_agent_batches_total")
        swaps = self.superseded()
        self.wait_for("more batches", lambda: self.own("binnacle_agent_batches_total") > batches + 20)
        self.assertEqual(self.superseded(), swaps)
        for t in (self.trial, self.second):
            self.assertEqual(json.loads(t.ask("ops", "/api/v1/status")[1])["nodes"]["connected"], 1)

    def test_two_replicas_behind_two_addresses_of_one_load_balancer(self):
        ports = self.two_replicas()
        balancers = [Line(ports, listen=self.site.here) for _ in range(2)]
        for balancer in balancers:
            self.addCleanup(balancer.stop)
        self.dial(*[f"{self.site.here}:{b.port}" for b in balancers], more=["--server-name", "localhost"])
        self.assert_settled()
        # A replica that went away is found again behind the same addresses.
        self.second.end("aggregator")
        self.wait_for("the loss", lambda: self.links() == {"a": 1, "b": 0})
        self.second.start_aggregator("--replica-id", "b", "--replicas", "2")
        self.wait_for("the link to be back", lambda: self.links() == {"a": 1, "b": 1})
        self.assert_settled()

    def test_two_replicas_behind_a_router_that_goes_by_sni(self):
        ports = dict(zip(("a.example", "b.example"), self.two_replicas()))
        router = Line([], listen=self.site.here, choose=lambda hello: ports.get(server_name(hello)))
        self.addCleanup(router.stop)
        self.site.know({name: self.site.here for name in ports})
        self.dial(*[f"{name}:{router.port}" for name in ports])
        self.assert_settled()
        self.assertEqual(self.superseded(), 0)


if __name__ == "__main__":
    run_tests()
