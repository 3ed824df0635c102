"""The whole loop across an aggregator that is killed, or ends: what it goes on from with a state file, and what it says of one that it cannot use.

Run by meson (suite integration), or by hand: python3 tests/integration/loop_restart_test.py --build build [TestName]
"""

import json
import signal
import socket

import loop
from loop import METRIC, policy
from trial import FACES, free_port, run_tests

# 160 W is inside the band: only a memory knows whether the label is on.
IN_THE_BAND = policy(f"    deschedule:\n      rules:\n      - {{metricname: {METRIC}, operator: GreaterThan, target: 200, clearBelow: 120}}\n")


def into_the_band(trial, is_labelled):
    """Heats `warm` to 220 W until it is labelled, and lets it cool to 160 W."""
    trial.heat("warm", 100)
    trial.wait_for("the label", is_labelled)
    trial.heat("warm", 73)

    def in_the_band():
        watts = {item["describedObject"]["name"]: item["value"] for item in trial.metric(METRIC)}
        return watts["warm"].endswith("m") and 130_000 < int(watts["warm"][:-1]) < 190_000
    trial.wait_for("the band", in_the_band)


class Restart(loop.Loop):
    def setUp(self):
        super().setUp()
        self.state = self.trial.folder / "state"

    def labels(self):
        return self.trial.ask("ops", "/api/v1/labels")[1]

    def begin_in_the_band(self):
        self.begin(IN_THE_BAND, "--state", self.state)
        into_the_band(self.trial, lambda: "violating" in self.labels())

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


# What only a memory knows: that the value has been above 140 W for long, that the label is on, and when it went on.
LONG_AND_COOL = policy(f"""    dontschedule:
      rules:
      - {{metricname: {METRIC}, operator: GreaterThan, target: 140, for: 20s}}
    deschedule:
      coolDown: 1h
      rules:
      - {{metricname: {METRIC}, operator: GreaterThan, target: 200, clearBelow: 120}}
""")


class Replicas(loop.Loop):
    """Two replicas of one certificate. The second one has no file: it asks the first."""

    def setUp(self):
        super().setUp()
        self.ports = {face: free_port() for face in FACES}
        self.first = self.trial.ports

    def start_second(self):
        self.trial.start_aggregator("--replica-id", "second", "--state-from", f"localhost:{self.first['ops']}", name="second", ports=self.ports)
        self.trial.wait_for("watts at the second", lambda: len(self.trial.metric(METRIC, ports=self.ports)) == 2)

    def deschedule(self, ports):
        """{state: names of nodes} of the strategy, as the replica says it."""
        policies = json.loads(self.trial.ask("ops", "/api/v1/policies", ports)[1])["policies"]
        known = [s for p in policies for s in p["strategies"] if s["strategy"] == "deschedule"][0]
        return {state: known.get(state, {}).get("nodes", []) for state in ("violating", "held")}

    def own_metric(self, name, ports):
        lines = self.trial.ask("ops", "/metrics", ports)[1].splitlines()
        return [line for line in lines if line.startswith(name)]

    def test_a_replica_that_was_killed_says_what_the_other_one_says(self):
        state = self.trial.folder / "state"
        self.begin(LONG_AND_COOL, "--state", state, "--replica-id", "first",
                   agents=("--aggregator", f"localhost:{self.ports['ingest']}"))
        # One that went on from a state gives it at once.
        self.trial.end("aggregator")
        self.trial.start_aggregator("--state", state, "--replica-id", "first")
        self.start_second()
        self.assertIn('binnacle_state_origin_info{origin="replica"} 1', self.own_metric("binnacle_state_origin", self.ports))
        both = (self.first, self.ports)

        self.trial.heat("warm", 100)  # 220 W
        self.trial.wait_for("the label of both", lambda: all(self.deschedule(ports)["violating"] == ["warm"] for ports in both))
        self.trial.heat("warm", 73)  # 160 W: inside the band, and above 140
        self.trial.wait_for("both to keep pods away", lambda: all(self.passing(ports) == ["cool"] for ports in both))

        self.trial.end("second", signal.SIGKILL)
        self.start_second()
        self.assertEqual(self.passing(self.ports), self.passing(self.first))
        self.assertEqual(self.passing(self.ports), ["cool"])
        self.assertEqual(self.deschedule(self.ports), {"violating": ["warm"], "held": []})

        self.trial.heat("cool", 100)  # within the hour
        for ports in both:
            self.trial.wait_for("the cool-down to hold the label", lambda ports=ports: self.deschedule(ports)["held"] == ["cool"])
            self.assertEqual(self.deschedule(ports)["violating"], ["warm"])
        self.assertIn('binnacle_state_requests_total{outcome="given"} 2', self.own_metric("binnacle_state_requests", self.first))

        # A caller of the ops port is no replica.
        status, text = self.trial.ask("ops", "/replicas/v1/state")
        self.assertEqual(status, 403, text)

    def test_a_replica_in_its_first_minute_gives_its_state_to_one_that_has_none(self):
        self.begin(IN_THE_BAND, "--replica-id", "first", agents=("--aggregator", f"localhost:{self.ports['ingest']}"))
        into_the_band(self.trial, lambda: self.deschedule(self.first)["violating"] == ["warm"])
        self.start_second()
        self.assertIn('binnacle_state_origin_info{origin="replica"} 1', self.own_metric("binnacle_state_origin", self.ports))
        self.assertEqual(self.deschedule(self.ports)["violating"], ["warm"])

    def test_a_replica_whose_peer_says_nothing_begins_all_the_same(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", self.ports["ops"]))
            silent.listen()
            self.begin(LONG_AND_COOL, "--state-from", f"127.0.0.1:{self.ports['ops']}")
            self.assertIn('binnacle_state_asked_total{outcome="failed"} 1', self.own_metric("binnacle_state_asked", self.first))
            self.assertIn('binnacle_state_origin_info{origin="nothing"} 1', self.own_metric("binnacle_state_origin", self.first))
            self.assertIn("[+]state ok", self.trial.ask("ops", "/readyz?verbose")[1])


if __name__ == "__main__":
    run_tests(holder="loop")
