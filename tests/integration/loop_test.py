"""The whole loop with the real programs on loopback: what happens when parts are heated, killed, stopped, cut off and restarted.

Run by meson (suite integration), or by hand: python3 tests/integration/loop_test.py --build build [TestName]
"""

import contextlib
import fcntl
import http.client
import json
import os
import pathlib
import pty
import signal
import struct
import sys
import termios
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from trial import ROOT, Trial, pod, run_tests  # noqa: E402  (the path comes first)

BUILD = ROOT / "build"
METRIC = "rapl_power_watts"


def policy(strategies, name="power-policy", extra=""):
    return (f"apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: {{name: {name}, namespace: default}}\n"
            f"spec:\n{extra}  strategies:\n{strategies}")


def rule(kind, target, metric=METRIC, more=""):
    return f"    {kind}:\n{more}      rules:\n      - {{metricname: {metric}, operator: GreaterThan, target: {target}}}\n"


class Loop(unittest.TestCase):
    """Two nodes of two packages with dram: cool at 40 W a package (88 W in all), warm at 60 W (132 W)."""

    def setUp(self):
        self.trial = Trial(BUILD)
        self.addCleanup(self.trial.stop)
        self.trial.make_certificates(["cool", "warm"])

    def begin(self, text, *more, agents=()):
        """`more` are flags of the aggregator, `agents` of the agents."""
        self.trial.write_policy(text)
        self.trial.start_aggregator(*more)
        for node, watts in (("cool", 40), ("warm", 60)):
            self.trial.start_package(node, watts)
            self.trial.start_agent(node, "--sys-root", self.trial.sysroot(node), *agents)
        self.trial.wait_for("watts of both nodes", lambda: len(self.trial.metric(METRIC)) == 2)

    def ask(self, verb, nodes):
        with self.trial.scheduler() as scheduler:
            answer, _ = scheduler.call(verb, pod("web"), nodes)
        return answer

    def passing(self):
        return sorted(self.ask("filter", ["cool", "warm"])["NodeNames"])

    def until_passing(self, nodes, seconds=15.0):
        self.trial.wait_for(f"the filter to pass {nodes}", lambda: self.passing() == nodes, seconds)

    def test_a_heated_node_is_refused_and_passes_again_when_it_has_cooled(self):
        self.begin(policy(rule("dontschedule", 250)))
        self.assertEqual(self.passing(), ["cool", "warm"])
        self.trial.heat("warm", 150)
        self.until_passing(["cool"])
        why = self.trial.cli("why", "web")
        self.assertIn("warm", why.stdout)
        self.assertIn("250", why.stdout)
        self.trial.heat("warm", 60)
        self.until_passing(["cool", "warm"])

    def test_prioritize_prefers_the_cooler_node(self):
        self.begin(policy("    scheduleonmetric:\n      rules:\n      - {metricname: rapl_power_watts, operator: LessThan}\n"))
        scores = {row["Host"]: row["Score"] for row in self.ask("prioritize", ["cool", "warm"])}
        self.assertEqual(scores["cool"], 10)
        self.assertLess(scores["warm"], 10)

    def test_a_stopped_agents_values_age_out_and_come_back(self):
        self.begin(policy(rule("dontschedule", 100, more="      onMissing: Reject\n")
                          .replace("target: 100", "target: 10000, staleAfter: 2s")))
        self.until_passing(["cool", "warm"])
        self.trial.processes["warm"].send_signal(signal.SIGSTOP)
        self.until_passing(["cool"], 20)
        self.trial.processes["warm"].send_signal(signal.SIGCONT)
        self.until_passing(["cool", "warm"], 20)

    def test_a_package_whose_counter_dies_has_no_watts_for_the_policy(self):
        # By lowest watts alone a dead counter's 0 W would win every placement.
        self.begin(policy(rule("dontschedule", 10000, metric="host_power_watts", more="      onMissing: Reject\n")
                          + rule("deschedule", 150, metric="host_power_watts")), agents=["--rapl-still-after", "2s"])
        self.until_passing(["cool", "warm"])
        self.trial.heat("warm", "psys stop\npackage-0 stop")

        def reason(metric):
            node = json.loads(self.trial.ask("ops", f"/api/v1/nodes?metric={metric}")[1])["nodes"][-1]
            self.assertEqual(node["name"], "warm")
            value = node["values"][metric]
            self.assertNotEqual(value.get("value"), 0)
            return value.get("absent")

        self.until_passing(["cool"], 40)
        self.trial.wait_for("the reason", lambda: reason("rapl_power_watts") == "stands_still", 30)
        self.trial.wait_for("the same of the node's best figure", lambda: reason("host_power_watts") == "stands_still")
        self.assertIn('"state":"frozen"', self.trial.ask("ops", "/api/v1/nodes/warm")[1])
        self.assertIn("stands still for more than 2 s", self.trial.ask("ops", "/api/v1/status")[1])
        self.trial.heat("warm", "psys go\npackage-0 go")
        self.until_passing(["cool", "warm"], 20)

    def test_a_node_whose_sensor_dies_wins_no_placement_by_lowest_watts(self):
        # 69 W of the platform at warm, of which 34 W are packages and memory: less than the 40 W of the platform at cool.
        self.begin(policy("    scheduleonmetric:\n      rules:\n      - {metricname: host_power_watts, operator: LessThan}\n"),
                   agents=["--rapl-still-after", "2s"])
        self.trial.heat("cool", 2)
        self.trial.heat("warm", 15)

        def warm_is(state):
            """Whether host_power_watts of warm is so; it may be absent, but never lower because of the sensor."""
            node = json.loads(self.trial.ask("ops", "/api/v1/nodes?metric=host_power_watts")[1])["nodes"][-1]
            figure = node["values"]["host_power_watts"]
            if "value" in figure:
                self.assertGreater(float(figure["value"]), 50)
            return figure.get("absent", "there") == state

        for _ in range(2):
            self.trial.wait_for("warm's watts", lambda: warm_is("there"))
            self.trial.heat("warm", "psys stop")
            self.trial.wait_for("the reason", lambda: warm_is("stands_still"), 60)
            scores = {row["Host"]: row["Score"] for row in self.ask("prioritize", ["cool", "warm"])}
            self.assertGreater(scores["cool"], scores["warm"])
            self.trial.heat("warm", "psys go")

    def test_a_dead_psys_never_counts_and_rapl_does(self):
        self.trial.start_package("cool", 40)
        self.trial.heat("cool", "psys stop")
        self.trial.write_policy(policy(rule("dontschedule", 10000, metric="host_power_watts")))
        self.trial.start_aggregator()
        self.trial.start_agent("cool", "--sys-root", self.trial.sysroot("cool"), "--rapl-still-after", "2s")
        self.trial.wait_for("RAPL's watts", lambda: self.trial.metric("host_power_watts_rapl"))
        self.assertFalse(self.trial.metric("host_power_watts_psys"))
        self.trial.wait_for("the reason", lambda: "psys has never moved" in self.trial.ask("ops", "/api/v1/status")[1], 30)
        self.assertIn('"absent":"never_moved"', self.trial.ask("ops", "/api/v1/nodes/cool")[1])

    def test_a_killed_agent_reconnects_when_it_is_started_again(self):
        self.begin(policy(rule("dontschedule", 250)))
        self.trial.end("warm", signal.SIGKILL)
        status = json.loads(self.trial.cli("status", "-o", "json").stdout)
        self.trial.wait_for("the lost link to be seen",
                            lambda: '"connected":1' in self.trial.ask("ops", "/api/v1/status")[1].replace(" ", ""))
        self.assertTrue(status)
        self.trial.start_agent("warm", "--sys-root", self.trial.sysroot("warm"))
        self.trial.wait_for("the agent to be back",
                            lambda: '"connected":2' in self.trial.ask("ops", "/api/v1/status")[1].replace(" ", ""))

    def test_a_restarted_aggregator_gets_everything_again(self):
        self.begin(policy(rule("dontschedule", 110)))
        self.until_passing(["cool"])
        self.assertEqual(self.trial.end("aggregator"), 0)
        self.trial.start_aggregator()
        self.until_passing(["cool"], 40)

    def test_an_edited_policy_counts_within_a_second_and_a_broken_one_changes_nothing(self):
        self.begin(policy(rule("dontschedule", 10000)))
        self.assertEqual(self.passing(), ["cool", "warm"])
        self.trial.write_policy(policy(rule("dontschedule", 110)))
        self.until_passing(["cool"], 5)
        self.trial.write_policy("apiVersion: [telemetry")
        self.trial.wait_for("the complaint", lambda: "policy.yaml" in self.trial.log("aggregator"), 5)
        time.sleep(0.5)
        self.assertEqual(self.passing(), ["cool"])
        self.trial.write_policy(policy(rule("dontschedule", 10000)))
        self.until_passing(["cool", "warm"], 5)

    def test_a_metric_that_no_agent_can_have_leaves_agents_and_other_policies_alone(self):
        self.begin(policy(rule("dontschedule", 110)))
        self.until_passing(["cool"])
        odd = "".join(policy(rule("dontschedule", 1, metric), name=f"odd-{number}") + "---\n"
                      for number, metric in enumerate(("cpu-x", "node-load", "a.b", "9lives")))
        self.trial.write_policy(odd + policy(rule("dontschedule", 110)))
        said = "no agent can have a series called cpu-x"
        self.trial.wait_for("the condition", lambda: said in self.trial.ask("ops", "/api/v1/policies")[1], 60)
        # A wish that ends sessions would have ended them by now, and values are older than that without them.
        self.trial.heat("warm", 40)
        self.until_passing(["cool", "warm"])
        self.trial.heat("warm", 60)
        self.until_passing(["cool"])
        self.assertIn('"connected":2', self.trial.ask("ops", "/api/v1/status")[1].replace(" ", ""))
        self.assertNotIn("the session ended", self.trial.log("aggregator"))
        self.assertIn(said, self.trial.cli("status").stdout)
        self.assertIn(said, self.trial.cli("doctor", "aggregator").stdout)

    def test_deschedule_labels_the_node_and_takes_the_label_off(self):
        self.begin(policy(rule("deschedule", 250)))
        self.trial.heat("warm", 150)
        self.trial.wait_for("the label", lambda: "violating" in self.trial.ask("ops", "/api/v1/labels")[1])
        self.trial.heat("warm", 60)
        self.trial.wait_for("the label to go", lambda: "violating" not in self.trial.ask("ops", "/api/v1/labels")[1])

    def test_dry_run_passes_all_and_records_what_would_be(self):
        self.begin(policy(rule("dontschedule", 110), extra="  mode: DryRun\n"))

        def refused():
            self.assertEqual(self.passing(), ["cool", "warm"])
            newest = json.loads(self.trial.ask("ops", "/api/v1/decisions?pod=web")[1])["decisions"][0]
            return newest["dryRun"] and newest["refused"] == 1

        self.trial.wait_for("a decision that says that warm would be refused", refused)

    def test_an_agent_whose_certificate_names_another_node_is_refused_and_counted(self):
        self.begin(policy(rule("dontschedule", 250)))
        self.trial.start_package("evil", 10)
        self.trial.start_agent("evil", "--sys-root", self.trial.sysroot("evil"), certificate="cool")
        self.trial.wait_for("the refusal to be counted",
                            lambda: 'binnacle_sessions_refused_total{reason="wrong_node"}' in self.trial.ask("ops", "/metrics")[1])
        self.assertNotIn('"evil"', self.trial.ask("ops", "/api/v1/nodes")[1])

    def test_a_textfile_brings_any_number_into_a_policy(self):
        folder = self.trial.folder / "textfile"
        folder.mkdir()
        self.trial.write_policy(policy(rule("dontschedule", 0, metric="health_metric"), name="power-policy"))
        self.trial.start_aggregator()
        self.trial.start_package("cool", 40)
        self.trial.start_agent("cool", "--sys-root", self.trial.sysroot("cool"), "--textfile-directory", folder)
        (folder / "text.prom").write_text("health_metric 1\n")
        self.trial.wait_for("the refusal", lambda: self.ask("filter", ["cool"])["NodeNames"] == [])
        (folder / "text.prom").write_text("health_metric 0\n")
        self.trial.wait_for("the pass", lambda: self.ask("filter", ["cool"])["NodeNames"] == ["cool"])

    def test_a_temperature_of_the_bmc_decides_under_its_own_and_its_old_name(self):
        if not (BUILD / "tests/support/binnacle-sim-bmc").exists():
            self.skipTest("built without FreeIPMI or OpenIPMI")
        for metric in ("bmc_temperature_celsius", "ipmi_temperature_celsius"):
            self.trial.write_policy(policy(rule("dontschedule", 70, metric=metric), name="power-policy"))
            if metric.startswith("bmc"):
                self.trial.start_aggregator()
                # What a policy watches is read every second all the same.
                self.trial.start_agent("cool", "--sources", "bmc", "--bmc-period", "60s", *self.trial.start_bmc("cool"))
            self.trial.wait_for("the temperature", lambda: [i["value"] for i in self.trial.metric("bmc_temperature_celsius")] == ["61"])
            self.trial.wait_for("the pass", lambda: self.ask("filter", ["cool"])["NodeNames"] == ["cool"])
            self.trial.warm("cool", "cpu0_temp", 88)
            self.trial.wait_for(f"the refusal by {metric}", lambda: self.ask("filter", ["cool"])["NodeNames"] == [])
            self.trial.warm("cool", "cpu0_temp", 61)
        self.assertEqual([i["value"] for i in self.trial.metric("bmc_temperature_celsius_inlet_temp")], ["23"])

    def test_the_bmc_of_the_agents_own_machine_decides(self):
        if not (BUILD / "tests/support/binnacle-sim-bmc").exists():
            self.skipTest("built without FreeIPMI or OpenIPMI")
        self.trial.write_policy(policy(rule("dontschedule", 30, metric="host_inlet_temperature_celsius")))
        self.trial.start_aggregator()
        self.trial.start_agent("cool", "--sources", "bmc", *self.trial.start_bmc("cool", in_band=True))
        self.trial.wait_for("the temperature", lambda: [i["value"] for i in self.trial.metric("host_inlet_temperature_celsius")] == ["23"])
        self.assertEqual(self.ask("filter", ["cool"])["NodeNames"], ["cool"])
        self.trial.warm("cool", "inlet_temp", 44)
        self.trial.wait_for("the refusal", lambda: self.ask("filter", ["cool"])["NodeNames"] == [])
        self.trial.warm("cool", "inlet_temp", 23)
        self.trial.wait_for("the pass", lambda: self.ask("filter", ["cool"])["NodeNames"] == ["cool"])
        self.assertEqual(self.trial.metric("bmc_dcmi_average_power_watts")[0]["value"], "417")

    def test_a_policy_that_watches_rapl_makes_agents_read_it_five_times_a_second(self):
        def periods():
            items = self.trial.metric("binnacle_agent_source_period_seconds_rapl")
            return {item["describedObject"]["name"]: item["value"] for item in items}

        self.begin(policy(rule("dontschedule", 1000, metric="os_load1")), agents=["--self-period", "200ms"])
        self.trial.wait_for("one read a second", lambda: periods() == {"cool": "1", "warm": "1"})
        self.trial.write_policy(policy(rule("dontschedule", 10000)))
        self.trial.wait_for("five reads a second", lambda: periods() == {"cool": "200m", "warm": "200m"})
        self.trial.write_policy(policy(rule("dontschedule", 1000, metric="os_load1")))
        self.trial.wait_for("one read a second again", lambda: periods() == {"cool": "1", "warm": "1"})

    def test_one_policy_on_the_best_power_figure_under_a_name_of_ones_own(self):
        names = self.trial.folder / "aliases.yaml"
        names.write_text("- {name: machine_kw, family: host_power_watts, scale: 0.001}\n")
        self.begin(policy("    dontschedule:\n      rules:\n      - {metricname: machine_kw, operator: GreaterThan, targetQuantity: 140m}\n"),
                   "--aliases", names)
        self.until_passing(["cool"])
        self.assertEqual(len(self.trial.metric("host_power_watts_psys")), 2)

        names.write_text("- {name: machine_kw, family: host_power_watts, scale: 0.0001}\n")
        self.until_passing(["cool", "warm"])
        names.write_text("- {name: machine_kw, family: host_power_watts, scale: 0.001}\n- {name: nameless}\n")
        self.trial.wait_for("the refusal", lambda: "aliases.yaml:2: error: [1]: family is missing" in self.trial.log("aggregator"))
        self.assertIn("those read before stay in force", self.trial.log("aggregator"))
        self.trial.wait_for("it in the list of policies", lambda: "aliases.yaml" in self.trial.ask("ops", "/api/v1/policies")[1])
        self.until_passing(["cool", "warm"])
        names.write_text("- {name: machine_watts, family: host_power_watts}\n")
        self.trial.wait_for("the other name", lambda: len(self.trial.metric("machine_watts")) == 2)
        self.trial.wait_for("the old one to be gone", lambda: not self.trial.metric("machine_kw"))

    def test_a_node_that_is_gone_for_good_is_forgotten(self):
        self.begin(policy(rule("dontschedule", 250)), "--forget-after", "2s")
        self.assertEqual(self.trial.end("warm"), 0)
        self.trial.wait_for("the node to be forgotten", lambda: "binnacle_forgotten_nodes_total 1" in self.trial.ask("ops", "/metrics")[1])
        self.assertNotIn('"warm"', self.trial.ask("ops", "/api/v1/nodes")[1])
        self.trial.start_agent("warm", "--sys-root", self.trial.sysroot("warm"))
        self.trial.wait_for("the node to be back", lambda: len(self.trial.metric(METRIC)) == 2)
        self.until_passing(["cool", "warm"])

    def test_an_aggregator_that_stops_is_not_ready_first_and_serves_on(self):
        self.trial.write_policy(policy(rule("dontschedule", 250)))
        self.trial.start_aggregator(drain="5m")
        self.assertEqual(self.health("/readyz"), 200)
        self.trial.processes["aggregator"].send_signal(signal.SIGTERM)
        self.trial.wait_for("the aggregator not to be ready", lambda: self.health("/readyz") == 500)
        self.assertEqual(self.health("/livez"), 200)
        self.assertEqual(self.ask("filter", ["cool", "warm"])["NodeNames"], ["cool", "warm"])
        self.assertEqual(self.trial.ask("ops", "/api/v1/status")[0], 200)
        self.assertEqual(self.trial.end("aggregator", seconds=60), 0)  # the second signal

    def test_top_is_drawn_anew_in_a_terminal_and_gives_the_screen_back(self):
        self.begin(policy(rule("dontschedule", 250)))
        process, terminal = pty.fork()
        if process == 0:
            program = BUILD / "cli/binnacle"
            os.execve(program, [program, "top"], dict(os.environ, TERM="xterm", **self.trial.cli_environment()))
        self.addCleanup(os.close, terminal)
        os.set_blocking(terminal, False)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 110, 0, 0))
        seen = b""

        def shown(text):
            """Whether the text has been drawn since the last one that was waited for."""
            nonlocal seen
            with contextlib.suppress(BlockingIOError, OSError):  # OSError: the program has ended
                seen += os.read(terminal, 1 << 16)
            before, found, rest = seen.partition(text)
            seen = rest if found else before
            return bool(found)

        def until(text):
            self.trial.wait_for(f"{text} in the terminal", lambda: shown(text), 30)

        until(b"\x1b[?1049h")  # the second screen
        for text in (b"\x1b[H", b"warm", b"pass", b"cool", b"\x1b[J"):
            until(text)
        self.trial.heat("warm", 150)
        until(b"violating")
        self.assertEqual(self.trial.end("aggregator"), 0)
        until(b"Trying again every second")
        os.write(terminal, b"\x03")
        until(b"\x1b[?25h\x1b[?1049l")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 0)

    def health(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.trial.ports["health"], timeout=5)
        self.addCleanup(connection.close)
        connection.request("GET", path)
        return connection.getresponse().status

    def test_programs_end_with_status_0_on_sigterm(self):
        self.begin(policy(rule("dontschedule", 250)))
        self.assertEqual(self.trial.end("warm"), 0)
        self.assertEqual(self.trial.end("aggregator"), 0)


if __name__ == "__main__":
    run_tests()
