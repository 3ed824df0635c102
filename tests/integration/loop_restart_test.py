"""The whole loop across an aggregator that is killed, or ends: what it goes on from with a state file, and what it says of one that it cannot use.

Run by meson (suite integration), or by hand: python3 tests/integration/loop_restart_test.py --build build [TestName]
"""

import signal

import loop
from loop import METRIC, policy
from trial import run_tests

# 160 W is inside the band: only a memory knows whether the label is on.
IN_THE_BAND = policy(f"    deschedule:\n      rules:\n      - {{metricname: {METRIC}, operator: GreaterThan, target: 200, clearBelow: 120}}\n")


class Restart(loop.Loop):
    def setUp(self):
        super().setUp()
        self.state = self.trial.folder / "state"

    def labels(self):
        return self.trial.ask("ops", "/api/v1/labels")[1]

    def begin_in_the_band(self):
        self.begin(IN_THE_BAND, "--state", self.state)
        self.trial.heat("warm", 100)  # 220 W
        self.trial.wait_for("the label", lambda: "violating" in self.labels())
        self.trial.heat("warm", 73)  # 160 W

        def in_the_band():
            watts = {item["describedObject"]["name"]: item["value"] for item in self.trial.metric(METRIC)}
            return watts["warm"].endswith("m") and 130_000 < int(watts["warm"][:-1]) < 190_000
        self.trial.wait_for("the band", in_the_band)

    def restart(self, *more):
        self.trial.start_aggregator("--state", self.state, *more)
        self.trial.wait_for("watts of both nodes", lambda: len(self.trial.metric(METRIC)) == 2)

    def test_a_label_inside_its_band_outlives_a_kill(self):
        self.begin_in_the_band()
        written = self.state.stat().st_mtime_ns if self.state.exists() else 0
        self.trial.wait_for("the state of the band", lambda: self.state.exists() and self.state.stat().st_mtime_ns > written)
        self.trial.end("aggregator", signal.SIGKILL)
        self.restart()
        self.assertIn("goes on from the state of", self.trial.log("aggregator"))
        self.assertIn("violating", self.labels())
        self.trial.heat("warm", 40)
        self.trial.wait_for("the label to go", lambda: "violating" not in self.labels())

    def test_the_last_state_is_written_at_the_end(self):
        self.begin_in_the_band()
        self.trial.end("aggregator")
        self.restart()
        self.assertIn("violating", self.labels())

    def test_a_state_file_that_cannot_be_used_costs_only_itself(self):
        self.state.write_bytes(b"\0\1\2 no snapshot")
        self.begin(IN_THE_BAND, "--state", self.state)
        self.assertIn("not a snapshot that this version can read", self.trial.log("aggregator"))
        # A folder in its place can be neither read nor replaced.
        self.trial.end("aggregator")
        self.state.unlink()
        self.state.mkdir()
        self.restart()
        self.trial.wait_for("the warning", lambda: f"state file {self.state}: cannot replace it" in self.trial.cli("status").stdout)


if __name__ == "__main__":
    run_tests(holder="loop")
