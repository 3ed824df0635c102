"""The whole loop: what policies refuse, prefer, label and record, and what an edited one changes.

Run by meson (suite integration), or by hand: python3 tests/integration/loop_policies_test.py --build build [TestName]
"""

import json

import loop
from loop import policy, rule
from trial import run_tests


class Policies(loop.Loop):
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

    def test_an_edited_policy_counts_and_a_broken_one_changes_nothing(self):
        self.begin(policy(rule("dontschedule", 10000)))
        self.assertEqual(self.passing(), ["cool", "warm"])
        self.trial.write_policy(policy(rule("dontschedule", 110)))
        self.until_passing(["cool"])
        self.trial.write_policy("apiVersion: [telemetry")
        self.trial.wait_for("the complaint", lambda: "policy.yaml" in self.trial.log("aggregator"))
        for _ in range(20):
            self.assertEqual(self.passing(), ["cool"])
        self.trial.write_policy(policy(rule("dontschedule", 10000)))
        self.until_passing(["cool", "warm"])

    def test_a_metric_that_no_agent_can_have_leaves_agents_and_other_policies_alone(self):
        self.begin(policy(rule("dontschedule", 110)))
        self.until_passing(["cool"])
        odd = "".join(policy(rule("dontschedule", 1, metric), name=f"odd-{number}") + "---\n"
                      for number, metric in enumerate(("cpu-x", "node-load", "a.b", "9lives")))
        self.trial.write_policy(odd + policy(rule("dontschedule", 110)))
        said = "no agent can have a series called cpu-x"
        self.trial.wait_for("the condition", lambda: said in self.trial.ask("ops", "/api/v1/policies")[1])
        # If the odd names ended sessions, the sessions would have ended by now, and no new value would arrive.
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


if __name__ == "__main__":
    run_tests(holder="loop")
