"""The whole loop: what sensors that are heated, die, stand still or fall silent do to verdicts.

Run by meson (suite integration), or by hand: python3 tests/integration/loop_sensors_test.py --build build [TestName]
"""

import json

import loop
from loop import policy, rule
from trial import run_tests


class Sensors(loop.Loop):
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

        self.until_passing(["cool"])
        self.trial.wait_for("the reason", lambda: reason("rapl_power_watts") == "stands_still")
        self.trial.wait_for("the same of the node's best figure", lambda: reason("host_power_watts") == "stands_still")
        self.assertIn('"state":"frozen"', self.trial.ask("ops", "/api/v1/nodes/warm")[1])
        self.assertIn("has stood still for more than 2 s", self.trial.ask("ops", "/api/v1/status")[1])
        self.trial.heat("warm", "psys go\npackage-0 go")
        self.until_passing(["cool", "warm"])

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
            self.trial.wait_for("the reason", lambda: warm_is("stands_still"))
            scores = {row["Host"]: row["Score"] for row in self.ask("prioritize", ["cool", "warm"])}
            self.assertGreater(scores["cool"], scores["warm"])
            self.trial.heat("warm", "psys go")

    def test_a_node_whose_agent_is_restarted_wins_no_placement_before_its_bmc_is_met(self):
        # 417 W by DCMI at warm, of which 167 W are the platform by psys: less than the 255 W of the platform at cool.
        if not (loop.BUILD / "tests/support/binnacle-sim-bmc").exists():
            self.skipTest("built without FreeIPMI or OpenIPMI")
        self.trial.write_policy(policy("    scheduleonmetric:\n      rules:\n      - {metricname: host_power_watts, operator: LessThan}\n"))
        self.trial.start_aggregator()
        for node, watts in (("cool", 100), ("warm", 60)):
            self.trial.start_package(node, watts)
        self.trial.start_agent("cool", "--sys-root", self.trial.sysroot("cool"))
        warm = ["--sys-root", self.trial.sysroot("warm"), *self.trial.start_bmc("warm")]
        self.trial.start_agent("warm", *warm)

        def warm_has():
            nodes = {n["name"]: n for n in json.loads(self.trial.ask("ops", "/api/v1/nodes?metric=host_power_watts")[1])["nodes"]}
            return nodes.get("warm", {}).get("values", {}).get("host_power_watts", {})

        def cool_wins():
            scores = {row["Host"]: row["Score"] for row in self.ask("prioritize", ["cool", "warm"])}
            return scores["cool"] > scores["warm"]

        self.trial.wait_for("DCMI's watts", lambda: warm_has().get("value") == 417)
        self.trial.wait_for("cool's watts", lambda: self.trial.metric("host_power_watts_psys", "cool"))
        self.assertTrue(cool_wins())
        self.trial.end("bmc-warm")
        self.trial.end("warm")
        # An hour, since a busy machine may need more than a minute for what comes now.
        self.trial.start_agent("warm", *warm, "--power-wait", "1h")
        self.trial.wait_for("warm to wait for its BMC", lambda: warm_has().get("absent") == "not_read_yet")
        self.trial.wait_for("the watts of warm's platform", lambda: self.trial.metric("rapl_zone_power_watts_psys", "warm"))
        self.assertEqual(warm_has().get("absent"), "not_read_yet")
        self.assertTrue(cool_wins())
        # No longer than it is told to.
        self.trial.end("warm")
        self.trial.start_agent("warm", *warm, "--power-wait", "1s")
        self.trial.wait_for("the lesser source", lambda: self.trial.metric("host_power_watts_psys", "warm"))
        self.trial.wait_for("the reason", lambda: "bmc gave no value within" in self.trial.ask("ops", "/api/v1/status")[1])

    def test_a_dead_psys_never_counts_and_rapl_does(self):
        self.trial.start_package("cool", 40)
        self.trial.heat("cool", "psys stop")
        self.trial.write_policy(policy(rule("dontschedule", 10000, metric="host_power_watts")))
        self.trial.start_aggregator()
        self.trial.start_agent("cool", "--sys-root", self.trial.sysroot("cool"), "--rapl-still-after", "2s")
        self.trial.wait_for("RAPL's watts", lambda: self.trial.metric("host_power_watts_rapl"))
        self.assertFalse(self.trial.metric("host_power_watts_psys"))
        self.trial.wait_for("the reason", lambda: "psys has never moved" in self.trial.ask("ops", "/api/v1/status")[1])
        self.assertIn('"absent":"never_moved"', self.trial.ask("ops", "/api/v1/nodes/cool")[1])

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
        if not (loop.BUILD / "tests/support/binnacle-sim-bmc").exists():
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
        self.trial.wait_for("the other sensor", lambda: [i["value"] for i in self.trial.metric("bmc_temperature_celsius_inlet_temp")] == ["23"])
        self.trial.wait_for("the inlet under the name that WAO has for it", lambda: [i["value"] for i in self.trial.metric("inlet_temp")] == ["23"])

    def test_the_bmc_of_the_agents_own_machine_decides(self):
        if not (loop.BUILD / "tests/support/binnacle-sim-bmc").exists():
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
        self.trial.wait_for("DCMI's mean", lambda: [i["value"] for i in self.trial.metric("bmc_dcmi_average_power_watts")] == ["417"])

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


if __name__ == "__main__":
    run_tests(holder="loop")
