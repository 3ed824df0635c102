"""The aggregator's clock is set forward and back while it works. Only its wall clock: libfaketime gives it another one, the machine keeps its own.

Run by scripts/test --cluster, or by hand: python3 tests/cluster/clock_test.py --build build [TestName]
"""

import contextlib
import datetime
import json
import os
import pathlib
import sys

from support import heated
from support.control_plane import ControlPlane
from support.heated import HeatedNodes, Watch, apply, ask, hot, policy

PLANE = None
HOUR = 3600
PATIENT = {"rules": [{"metricname": "heat", "operator": "GreaterThan", "target": 50, "staleAfter": "2m"}]}


def library():
    """libfaketime for programs with threads, of the Debian package libfaketime."""
    found = sorted(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        sys.exit("clock_test: no libfaketime: run scripts/bootstrap, or apt-get install libfaketime")
    return str(found[0])


@contextlib.contextmanager
def two_hours_ago():
    """For what is made here: certificates that are valid when the clock has gone back."""
    os.environ.update(LD_PRELOAD=library(), FAKETIME="-2h")
    try:
        yield
    finally:
        for name in ("LD_PRELOAD", "FAKETIME"):
            del os.environ[name]


class EarlierPlane(ControlPlane):
    def make_certificates(self):
        with two_hours_ago():
            super().make_certificates()


def setUpModule():
    global PLANE
    PLANE = heated.begin_plane(EarlierPlane)


class Clock(HeatedNodes):
    def setUp(self):
        super().setUp()
        self.offset = self.trial.folder / "offset"
        self.set_clock(0)

    def set_clock(self, seconds):
        new = self.offset.with_suffix(".new")
        new.write_text(f"{seconds:+d}\n")
        new.rename(self.offset)

    def start_aggregator(self, *more):
        self.trial.start_aggregator("--kube-config", self.kubeconfig, "--replica-id", "first", *more, under=[
            "env", f"LD_PRELOAD={self.trial.build.absolute() / 'tests/cluster/binnacle-kernel-timers.so'}:{library()}", f"FAKETIME_TIMESTAMP_FILE={self.offset}", "FAKETIME_CACHE_DURATION=1", "DONT_FAKE_MONOTONIC=1"])

    def its_offset(self):
        """Its wall clock against ours, in seconds."""
        said = json.loads(self.trial.ask("ops", "/api/v1/status")[1])["time"]
        its = datetime.datetime.fromisoformat(said.replace("Z", "+00:00"))
        return (its - datetime.datetime.now(datetime.timezone.utc)).total_seconds()

    def lease(self):
        spec = ask("GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/binnacle-aggregator")["spec"]
        return spec["holderIdentity"], spec["leaseTransitions"]

    def certificate_hours(self):
        return self.number("binnacle_certificate_remaining_seconds") / HOUR

    def test_an_hour_forward_and_back_changes_no_verdict_no_label_and_no_leader(self):
        with two_hours_ago():
            self.trial.make_certificates(["cool", "warm"])
        self.begin({"cool": 40, "warm": 60})
        self.until_led()
        self.start_standby()
        apply(policy({"dontschedule": PATIENT, "deschedule": PATIENT}))
        self.until_violating(["warm"])
        self.until("the status", lambda: self.condition("Ready")[0] == "True")
        leader, watch, hours = self.lease(), Watch("power-policy"), self.certificate_hours()
        with self.calls() as calls:
            for turn, jump in enumerate((1, 0, -1, 0)):
                with self.subTest(jump=jump):
                    self.set_clock(jump * HOUR)
                    self.until("its clock to jump", lambda: abs(self.its_offset() - jump * HOUR) < HOUR / 2)
                    self.assertAlmostEqual(hours - self.certificate_hours(), jump, delta=0.5)
                    # Its reads stay fresh, its writes go on, and new connections are made both ways.
                    self.assertEqual({i["describedObject"]["name"]: i["value"] for i in self.trial.metric("heat")}, {"cool": "40", "warm": "60"})
                    name = f"turn-{turn}"
                    apply(policy({"deschedule": hot(0)}, name))
                    self.until("labels written after it", lambda: self.violating(name) == ["cool", "warm"])
                    self.until("a status written after it", lambda: self.condition("Ready", name)[0] == "True")
                    self.trial.end("warm")
                    self.until("its agent to be gone", lambda: self.number('binnacle_nodes{state="connected"}') == 1)
                    self.start_agent("warm")
                    self.until("its agent again", lambda: self.number('binnacle_nodes{state="connected"}') == 2)
                    self.assertEqual(self.lease(), leader)
                    self.assertEqual(self.passing(), ["cool"])
        self.assertEqual((calls.failures, calls.answers), ([], [["cool"]]))
        self.assertEqual(watch.values("warm"), ["violating"])
        self.assertEqual(watch.values("cool"), [None])


if __name__ == "__main__":
    heated.run()
