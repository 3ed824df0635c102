"""Remote write and OTLP into a real VictoriaMetrics, which Go builds (tests/cluster/build victoria-metrics).

Run by scripts/test --cluster, or by hand: python3 tests/cluster/databases/victoria_metrics_test.py --build build [TestName]
"""

import pathlib
import signal
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "integration"), str(TESTS / "cluster")]
import loop  # noqa: E402  (the path comes first)
from past import Past  # noqa: E402
from trial import Trial, run_tests  # noqa: E402
from victoria_metrics import PROGRAM, VictoriaMetrics  # noqa: E402
from writing import Front, Writing  # noqa: E402

FLEET = 100
DIGITS = 12  # of a number with a fraction; more of them are not promised. Source: VictoriaMetrics, lib/decimal, conversionPrecision


class RemoteWrite(Writing):
    def server(self):
        out = VictoriaMetrics(self.trial)
        out.start()
        return out

    def test_every_digit_and_every_end_arrives_and_nothing_is_lost_by_the_version_that_it_does_not_know(self):
        server = self.server()
        self.begin_writing(server)
        self.trial.wait_for("the watts of both nodes", lambda: {one["metric"]["node"] for one in server.query("rapl_power_watts")} == {"cool", "warm"})
        self.assertEqual(server.query('rapl_power_watts{node="warm",package="0"}')[0]["metric"], {"__name__": "rapl_power_watts", "node": "warm", "package": "0"})
        self.assertIn("does not know remote write 2.0: it gets 1.0", self.trial.log("aggregator"))
        self.check_numbers(server)
        # The node's watts ended with its agent; without their end it would show the last value for minutes more.
        self.trial.wait_for("the end of the node's watts", lambda: not server.query('rapl_power_watts{node="cool"}'))
        self.assertTrue(server.query('rapl_power_watts{node="warm"}'))
        self.assertEqual(self.number("samples_total", outcome="refused"), 0)
        self.trial.end("warm")
        self.trial.end("cool")
        self.trial.wait_for("every sample that was sent", lambda: server.points() == self.number("samples_total", outcome="sent"))

    def test_a_day_of_values_comes_back(self):
        self.check_day(self.server(), "remote-write-1", DIGITS)

    def test_a_server_that_was_away_gets_what_it_missed(self):
        server = self.server()
        self.begin_writing(server)
        self.check_away(server, "remote write: ")

    def test_a_server_that_throttles_is_left_alone_as_long_as_it_asks_for(self):
        server = self.server()
        front = Front(server)
        self.addCleanup(front.stop)
        self.begin_writing(front)
        self.check_throttled(server, front, "remote write: ")


class Otlp(Past):
    protocol = "otlp"
    of_node = "k8s.node.name"

    def server(self):
        out = VictoriaMetrics(self.trial)
        out.url = out.otlp_url
        out.start()
        return out

    def test_the_dashboard_finds_the_past_by_names_with_dots(self):
        server = VictoriaMetrics(self.trial)
        server.url = server.otlp_url
        self.begin_with_history(server, "--history-names", "otlp-dots", watts='{__name__="hw.power","hw.type"="cpu"}')
        # Older versions know no quoted label after "by".
        of_each = '(sum by (node) (label_replace({__name__="hw.power"}, "node", "$1", "k8s.node.name", "(.*)")))'
        self.until_equal(server, {"": '{__name__="hw.power","k8s.node.name"="warm","hw.id"="package/1"}'}, ("node", "warm"), ("family", "rapl_power_watts"), ("label", "package=1"))
        self.until_equal(server, {"": 'sum({__name__="hw.power","k8s.node.name"="warm"})'}, ("node", "warm"), ("metric", "rapl_power_watts"))
        self.until_equal(server, {"lowest": f"min({of_each})", "median": f"quantile(0.5, {of_each})", "highest": f"max({of_each})"}, ("metric", "rapl_power_watts"))
        self.until_equal(server, {"": '{__name__="os_cpus","k8s.node.name"="warm"}'}, ("node", "warm"), ("metric", "os_cpus"))

    def test_hardware_has_opentelemetry_s_names_and_every_digit_and_every_end_arrives(self):
        server = self.server()
        self.begin_writing(server)
        self.trial.wait_for("the watts of both nodes", lambda: {one["metric"]["k8s.node.name"] for one in server.query('{__name__="hw.power"}')} == {"cool", "warm"})
        labels = server.query('{__name__="hw.power","k8s.node.name"="warm","hw.id"="package/0"}')[0]["metric"]
        self.assertLessEqual({"__name__": "hw.power", "service.name": "binnacle", "service.instance.id": "warm", "host.name": "warm", "k8s.node.name": "warm",
                              "hw.id": "package/0", "hw.name": "package 0", "hw.type": "cpu", "package": "0"}.items(), labels.items())
        self.check_numbers(server)
        self.trial.wait_for("the end of the node's watts", lambda: not server.query('{__name__="hw.power","k8s.node.name"="cool"}'))
        self.assertTrue(server.query('{__name__="hw.power","k8s.node.name"="warm"}'))

    def test_a_day_of_values_comes_back(self):
        self.check_day(self.server(), "otlp", DIGITS)

    def test_a_server_that_was_away_gets_what_it_missed(self):
        server = self.server()
        self.begin_writing(server)
        self.check_away(server, "OTLP: ")


class LongOutage(unittest.TestCase):
    """A fleet that says more than may wait."""

    def setUp(self):
        self.trial = Trial(loop.BUILD)
        self.addCleanup(self.trial.stop)
        self.trial.make_certificates([], more=["--fleet", f"sim:{FLEET}"])

    def number(self, outcome):
        for line in self.trial.ask("ops", "/metrics")[1].splitlines():
            if line.startswith("binnacle_remote_write_samples_total") and f'outcome="{outcome}"' in line:
                return float(line.rsplit(" ", 1)[1])
        return 0.0

    def test_what_finds_no_room_is_counted_and_everything_else_is_there(self):
        server = VictoriaMetrics(self.trial)
        server.start()
        self.trial.start_aggregator("--log-level", "warning", "--remote-write", server.url, "--remote-write-interval", "1s", "--remote-write-memory-mib", "1")
        self.trial.start("fleet", loop.BUILD / "tests/wan/binnacle-fleet", "--pki", self.trial.pki, "--nodes", FLEET, "--port", self.trial.ports["ingest"])
        self.trial.wait_for("values of all agents", lambda: len(server.query("count by (node) (rapl_power_watts)")) == FLEET, 300)
        server.end()
        self.trial.wait_for("no room for what waits", lambda: self.number("dropped") > 0, 300)
        server.start()
        self.trial.wait_for("values of now", lambda: server.query("count(rapl_power_watts)"))
        self.trial.end("fleet", signal.SIGKILL)
        # When the ends of the series are there too, nothing is on its way.
        self.trial.wait_for("the ends", lambda: not server.query("rapl_power_watts"), 300)
        self.trial.wait_for("every sample that was not dropped", lambda: server.points() == self.number("sent"), 300)
        self.assertEqual(self.number("refused"), 0)


if __name__ == "__main__":
    run_tests(holder="loop", missing="" if PROGRAM else "no VictoriaMetrics in the cache; tests/cluster/build victoria-metrics builds it")
