"""OTLP into a real OpenTelemetry collector, which Go builds (tests/cluster/build otel-collector).

Run by scripts/test --cluster, or by hand: python3 tests/cluster/databases/otel_collector_test.py --build build [TestName]
"""

import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "integration"), str(TESTS / "cluster")]
from otel_collector import PROGRAM, Collector  # noqa: E402  (the path comes first)
from trial import run_tests  # noqa: E402
from writing import Front, Writing  # noqa: E402


class OtelCollector(Writing):
    protocol = "otlp"
    of_node = "k8s_node_name"

    def server(self, *signals):
        out = Collector(self.trial, *signals)
        out.start()
        return out

    def test_every_digit_arrives_with_names_types_units_and_resource(self):
        server = self.server()
        self.begin_writing(server)
        self.trial.wait_for("the watts of both nodes", lambda: {one["resource"]["k8s.node.name"] for one in server.find("hw.power")} == {"cool", "warm"})
        [watts] = server.find("hw.power", k8s_node_name="warm", hw_id="package/0")
        self.assertEqual(watts["resource"], {"service.name": "binnacle", "service.instance.id": "warm", "host.name": "warm", "k8s.node.name": "warm"})
        self.assertEqual(watts["attributes"], {"hw.id": "package/0", "hw.name": "package 0", "hw.type": "cpu", "package": "0"})
        self.assertEqual((watts["unit"], watts["kind"]), ("W", "gauge"))
        joules = self.trial.wait_for("joules", lambda: server.find("hw.energy", k8s_node_name="warm", hw_type="memory"))[0]
        self.assertEqual((joules["unit"], joules["kind"], joules["cumulative"]), ("J", "sum", True))
        self.trial.wait_for("the machine's watts", lambda: server.find("hw.host.power", k8s_node_name="warm"))
        self.assertFalse(server.find("rapl_power_watts"), "nothing is there twice")
        self.check_numbers(server)
        # The node's watts ended with its agent: a point without a recorded value says so, once.
        self.trial.wait_for("the end of the node's watts", lambda: [
            one["points"][-1][1] for one in server.find("hw.power", k8s_node_name="cool", hw_id="package/0")] == [None])
        [gone] = server.find("hw.power", k8s_node_name="cool", hw_id="package/0")
        self.assertEqual([value for _, value in gone["points"]].count(None), 1)
        for one in server.series.values():
            self.assertEqual([at for at, _ in one["points"]], sorted({at for at, _ in one["points"]}), f"{one['metric']}: each reading once, in order")

    def test_a_day_of_values_comes_back_to_the_last_digit(self):
        self.check_day(self.server(), "otlp")

    def test_a_server_that_was_away_gets_what_it_missed(self):
        server = self.server()
        self.begin_writing(server)
        self.check_away(server, "OTLP: ")

    def test_a_server_that_throttles_is_left_alone_as_long_as_it_asks_for(self):
        server = self.server()
        front = Front(server)
        self.addCleanup(front.stop)
        self.begin_writing(front)
        self.check_throttled(server, front, "OTLP: ")

    def test_a_collector_without_metrics_is_named_with_the_remedy_and_asked_no_more_than_once(self):
        self.begin_writing(self.server("traces"))
        self.trial.wait_for("the warning", lambda: "refuses readings with 404" in (said := self.trial.cli("status").stdout) and "a collector takes /v1/metrics" in said)
        self.trial.wait_for("the count", lambda: self.number("samples_total", outcome="refused") > 0)
        self.assertEqual(self.number("retries_total"), 0)
        self.assertEqual(self.number("samples_total", outcome="sent"), 0)


if __name__ == "__main__":
    run_tests(holder="loop", missing="" if PROGRAM else "no OpenTelemetry collector in the cache; tests/cluster/build otel-collector builds it")
