"""The whole loop: programs that are killed, stopped, restarted or not who they say.

Run by meson (suite integration), or by hand: python3 tests/integration/loop_programs_test.py --build build [TestName]
"""

import http.client
import json
import signal

import loop
from loop import METRIC, policy, rule
from trial import run_tests


class Programs(loop.Loop):
    def test_a_stopped_agents_values_age_out_and_come_back(self):
        self.begin(policy(rule("dontschedule", 100, more="      onMissing: Reject\n")
                          .replace("target: 100", "target: 10000, staleAfter: 2s")))
        self.until_passing(["cool", "warm"])
        self.trial.processes["warm"].send_signal(signal.SIGSTOP)
        self.until_passing(["cool"])
        self.trial.processes["warm"].send_signal(signal.SIGCONT)
        self.until_passing(["cool", "warm"])

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
        self.until_passing(["cool"])

    def test_an_agent_whose_certificate_names_another_node_is_refused_and_counted(self):
        self.begin(policy(rule("dontschedule", 250)))
        self.trial.start_package("evil", 10)
        self.trial.start_agent("evil", "--sys-root", self.trial.sysroot("evil"), certificate="cool")
        self.trial.wait_for("the refusal to be counted",
                            lambda: 'binnacle_sessions_refused_total{reason="wrong_node"}' in self.trial.ask("ops", "/metrics")[1])
        self.assertNotIn('"evil"', self.trial.ask("ops", "/api/v1/nodes")[1])

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
        self.assertEqual(self.trial.end("aggregator"), 0)  # the second signal

    def test_programs_end_with_status_0_on_sigterm(self):
        self.begin(policy(rule("dontschedule", 250)))
        self.assertEqual(self.trial.end("warm"), 0)
        self.assertEqual(self.trial.end("aggregator"), 0)

    def health(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.trial.ports["health"], timeout=5)
        self.addCleanup(connection.close)
        connection.request("GET", path)
        return connection.getresponse().status


if __name__ == "__main__":
    run_tests(holder="loop")
