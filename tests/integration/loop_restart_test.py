"""The whole loop across an aggregator that is killed, or ends: what it goes on from with a state file, and what it says of one that it cannot use.

Run by meson (suite integration), or by hand: python3 tests/integration/loop_restart_test.py --build build [TestName]
"""

import json
import signal
import socket

import loop
from loop import METRIC, policy
from trial import free_ports, pod, run_tests

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


class WithState(loop.Loop):
    def setUp(self):
        super().setUp()
        self.state = self.trial.folder / "state"

    def until_written(self):
        """Waits until the state file has been written again."""
        written = self.state.stat().st_mtime_ns if self.state.exists() else 0
        self.trial.wait_for("the state", lambda: self.state.exists() and self.state.stat().st_mtime_ns > written)

    def restart(self, *more):
        self.trial.start_aggregator("--state", self.state, *more)
        self.trial.wait_for("watts of both nodes", lambda: len(self.trial.metric(METRIC)) == 2)


class Restart(WithState):
    def labels(self):
        return self.trial.ask("ops", "/api/v1/labels")[1]

    def begin_in_the_band(self):
        self.begin(IN_THE_BAND, "--state", self.state)
        into_the_band(self.trial, lambda: "violating" in self.labels())

    def test_a_label_inside_its_band_outlives_a_kill(self):
        self.begin_in_the_band()
        self.until_written()
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


def hot(target, name="power-policy", operator="GreaterThan", keys=0):
    """A policy that keeps pods from nodes above `target`. `keys`: of labels, in rules that are never true; each costs."""
    strategies = f"    dontschedule:\n      rules:\n      - {{metricname: {METRIC}, operator: {operator}, target: {target}}}\n"
    if keys:
        rules = [", ".join(f'\"k{key}=v\"' for key in range(first, min(first + 64, keys))) for first in range(0, keys, 64)]
        strategies += "    labeling:\n      rules:\n" + "".join(
            f"      - {{metricname: {METRIC}, operator: GreaterThan, target: 1000000, labels: [{labels}]}}\n" for labels in rules)
    return policy(strategies, name)


# One policy may give 256 keys by default.
TOO_COSTLY = 300


class LastGoodVersions(WithState):
    """What was in force before an edit that is not taken: no text says it any more. Pods may go to `cool` alone by it, and to both nodes by nothing or by the edit."""

    def begin_with_bad_edits(self):
        self.begin(hot(110), "--state", self.state)
        self.trial.write_policy(hot(110, "mistyped"), "mistyped.yaml")
        self.trial.write_policy(hot(110, "torn"), "torn.yaml")
        self.until_kept_from(self.trial.ports)
        self.trial.write_policy(hot(100_000, keys=TOO_COSTLY))
        self.trial.write_policy(hot(110, "mistyped", operator="GreaterTham"), "mistyped.yaml")
        self.trial.write_policy("{ " + hot(110, "torn"), "torn.yaml")
        self.until_refused(self.trial.ports)

    def refusals(self, ports):
        """How many policies stay as they were, and say so."""
        policies = json.loads(self.trial.ask("ops", "/api/v1/policies", ports)[1])
        costly = [c for c in policies["conditions"] if "its last good version stays in force" in c["message"]]
        wrong = [p for p in policies["problems"] if "stay" in p["message"] and "in force" in p["message"]]
        return len(costly) + len(wrong)

    def until_refused(self, ports):
        self.trial.wait_for("the edits to be refused", lambda: self.refusals(ports) == 3)

    def kept_from(self, ports):
        """Whether each of the three policies keeps pods from `warm`."""
        answers = []
        with self.trial.scheduler(ports) as scheduler:
            for name in ("power-policy", "mistyped", "torn"):
                answer, _ = scheduler.call("filter", pod("web", name), ["cool", "warm"])
                answers.append(sorted(answer["NodeNames"]))
        return answers == [["cool"]] * 3

    def until_kept_from(self, ports):
        self.trial.wait_for("all policies to keep pods away", lambda: self.kept_from(ports))

    def test_rules_before_an_edit_that_costs_too_much_or_is_wrong_outlive_a_kill(self):
        self.begin_with_bad_edits()
        # A state that was begun after the edits: the second one that is written from now on.
        for _ in range(2):
            self.until_written()
        self.trial.end("aggregator", signal.SIGKILL)
        self.restart()
        self.until_kept_from(self.trial.ports)
        self.until_refused(self.trial.ports)
        # A right edit ends it.
        self.trial.write_policy(hot(100_000))
        self.until_passing(["cool", "warm"])

    def test_a_fresh_replica_has_the_rules_that_the_other_one_has(self):
        ports = free_ports()
        self.begin_with_bad_edits()
        self.trial.start_aggregator("--replica-id", "second", "--state-from", f"localhost:{self.trial.ports['ops']}", name="second", ports=ports)
        # It knows by the state what the values of the nodes are.
        self.until_kept_from(ports)
        self.until_refused(ports)


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
        self.ports = free_ports()
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
