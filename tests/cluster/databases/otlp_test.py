"""OTLP into a real server that takes it: Prometheus 3, which Go builds (tests/cluster/build prometheus).

Run by scripts/test --cluster, or by hand: python3 tests/cluster/databases/otlp_test.py --build build [TestName]
"""

import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "integration"), str(TESTS / "cluster")]
from support.control_plane import built  # noqa: E402  (the path comes first)
from past import Past  # noqa: E402
from prometheus import Prometheus  # noqa: E402
from trial import run_tests  # noqa: E402

PROGRAM = built("prometheus", "prometheus")


class Otlp(Past):
    protocol = "otlp"
    of_node = "k8s_node_name"

    def quiet_server(self, takes_otlp=True):
        """Prometheus knows a series by job (service.name) and instance (service.instance.id), and by those attributes of a resource that it is told."""
        out = Prometheus(self.trial, None, None, None, *(["--web.enable-otlp-receiver"] if takes_otlp else []), path=PROGRAM,
                         config={"otlp": {"promote_resource_attributes": ["k8s.node.name"]}})
        out.url = f"{out.base}/api/v1/otlp/v1/metrics"
        return out

    def server(self, takes_otlp=True):
        out = self.quiet_server(takes_otlp)
        out.start()
        return out

    def test_the_dashboard_finds_the_past_by_opentelemetry_s_names(self):
        server = self.quiet_server()
        self.begin_with_history(server, "--history-names", "otlp", watts='hw_power_watts{hw_type="cpu"}')
        node = 'sum(hw_power_watts{k8s_node_name="warm"})'
        of_each = "(sum by (k8s_node_name) (hw_power_watts))"
        self.until_equal(server, {"": 'hw_power_watts{k8s_node_name="warm",hw_id="package/1"}'}, ("node", "warm"), ("family", "rapl_power_watts"), ("label", "package=1"))
        self.until_equal(server, {"": node}, ("node", "warm"), ("metric", "rapl_power_watts"))
        self.until_equal(server, {"lowest": f"min({of_each})", "median": f"quantile(0.5, {of_each})", "highest": f"max({of_each})"}, ("metric", "rapl_power_watts"))
        self.until_equal(server, {"": 'hw_host_power_watts{k8s_node_name="warm"}'}, ("node", "warm"), ("metric", "host_power_watts"))
        self.until_equal(server, {"": 'rapl_tdp_watts{k8s_node_name="warm",package="0"}'}, ("node", "warm"), ("family", "rapl_tdp_watts"), ("label", "package=0"))
        self.until_equal(server, {"": 'os_cpus{k8s_node_name="warm"}'}, ("node", "warm"), ("metric", "os_cpus"))

    def test_hardware_has_opentelemetry_s_names_and_every_digit_arrives(self):
        server = self.server()
        self.begin_writing(server)
        self.trial.wait_for("the watts of both nodes", lambda: {one["metric"]["k8s_node_name"] for one in server.query("hw_power_watts")} == {"cool", "warm"})
        self.assertEqual(server.query('hw_power_watts{k8s_node_name="warm",hw_id="package/0"}')[0]["metric"], {
            "__name__": "hw_power_watts", "job": "binnacle", "instance": "warm", "k8s_node_name": "warm",
            "hw_id": "package/0", "hw_name": "package 0", "hw_type": "cpu", "package": "0"})
        self.trial.wait_for("joules", lambda: server.query('hw_energy_joules_total{k8s_node_name="warm",hw_type="memory"}'))
        self.trial.wait_for("the machine's watts", lambda: server.query('hw_host_power_watts{k8s_node_name="warm"}'))
        self.trial.wait_for("what has no name there, under ours", lambda: server.query('rapl_tdp_watts{k8s_node_name="warm"}'))
        self.assertFalse(server.query("rapl_power_watts"), "nothing is there twice")
        self.check_numbers(server)
        # The node's watts ended with its agent; without their end Prometheus would show the last value for five minutes more.
        self.trial.wait_for("the end of the node's watts", lambda: not server.query('hw_power_watts{k8s_node_name="cool"}'))
        self.assertTrue(server.query('hw_power_watts{k8s_node_name="warm"}'))

    def test_a_day_of_values_comes_back_to_the_last_digit(self):
        self.check_day(self.server(), "otlp")

    def test_a_server_that_was_away_gets_what_it_missed(self):
        server = self.server()
        self.begin_writing(server)
        self.check_away(server, "OTLP: ")

    def test_a_server_that_does_not_take_otlp_is_named_with_the_remedy_and_asked_no_more_than_once(self):
        server = self.server(takes_otlp=False)
        self.begin_writing(server)
        self.trial.wait_for("the warning", lambda: "--web.enable-otlp-receiver" in self.trial.cli("status").stdout)
        self.trial.wait_for("the count", lambda: self.number("samples_total", outcome="refused") > 0)
        self.assertEqual(self.number("retries_total"), 0)
        self.assertEqual(self.number("samples_total", outcome="sent"), 0)


if __name__ == "__main__":
    run_tests(holder="loop", missing="" if PROGRAM else "no Prometheus 3 in the cache; tests/cluster/build prometheus builds it")
