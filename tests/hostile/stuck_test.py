"""A loop of the aggregator that stands still: it is visible, and missing data decides.

Run by meson (suite hostile), or by hand: python3 tests/hostile/stuck_test.py --build build [TestName]
"""

import contextlib
import ctypes
import http.client
import os
import pathlib
import unittest

from attacked import PATIENCE, Hostile
from trial import pod, run_tests

POLICY_OF = """apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: %s, namespace: default}
spec: {strategies: {dontschedule: {%s}}}
"""


@contextlib.contextmanager
def stopped_thread(process, name):
    """One thread of a program stands still, the others go on: what a deadlock or a hanging system call looks like from outside."""
    libc = ctypes.CDLL(None, use_errno=True)
    attach, detach, every_kind_of_child = 16, 17, 0x40000000  # PTRACE_ATTACH, PTRACE_DETACH, __WALL
    threads = pathlib.Path(f"/proc/{process.pid}/task")
    thread = next(int(t.name) for t in threads.iterdir() if (t / "comm").read_text().strip() == name)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if libc.ptrace(attach, thread, None, None) != 0:
        raise unittest.SkipTest(f"this machine lets nobody stop a thread: {os.strerror(ctypes.get_errno())}")
    try:
        os.waitpid(thread, every_kind_of_child)
        yield
    finally:
        libc.ptrace(detach, thread, None, None)


class Wedged(Hostile):
    """The thread that judges stands still: verdicts that nobody keeps up once looked like verdicts that had not changed."""

    def ready(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.trial.ports["health"], timeout=PATIENCE)
        try:
            connection.request("GET", "/readyz", headers={"Connection": "close"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def passing(self, name):
        with self.trial.scheduler() as scheduler:
            return scheduler.call("filter", pod("web", policy=name), ["good"])[0]

    def test_a_loop_that_stands_still_is_visible_and_missing_data_decides(self):
        rule = "rules: [{metricname: rapl_power_watts, operator: GreaterThan, target: %d}]"
        self.trial.write_policy("---\n".join(
            POLICY_OF % (name, strategy) for name, strategy in (("cool", "onMissing: Reject, " + rule % 10000), ("hot", rule % 1))))
        self.begin()
        self.wait_for("the hot verdict", lambda: not self.passing("hot")["NodeNames"])
        self.assertEqual(self.passing("cool")["NodeNames"], ["good"])
        self.assertEqual(self.ready()[0], 200)
        with stopped_thread(self.trial.processes["aggregator"], "ingest"):
            self.wait_for("/readyz to fail", lambda: self.ready()[0] == 500)
            self.assertIn("nothing has been judged for more than five seconds", self.ready()[1])
            refused = self.passing("cool")
            self.assertFalse(refused["NodeNames"])
            self.assertIn("nothing is judged any more", refused["FailedAndUnresolvableNodes"]["good"])
            self.assertEqual(self.passing("hot")["NodeNames"], ["good"], "onMissing: Allow")
            self.assertIn("nothing has been judged for more than five seconds", self.trial.ask("ops", "/api/v1/status")[1])
            self.livez()
        self.wait_for("/readyz again", lambda: self.ready()[0] == 200)
        self.wait_for("the verdicts again", lambda: not self.passing("hot")["NodeNames"] and self.passing("cool")["NodeNames"] == ["good"])


if __name__ == "__main__":
    run_tests(__doc__, "attacked")
