"""The dashboard's history from a real Prometheus that the real programs have filled: what a page is told is what Prometheus answers.

Run by meson (suite integration), or by hand: python3 tests/integration/history_test.py --build build [TestName]
"""


from past import Past  # first: it finds trial.py
from prometheus import Prometheus, missing
from remote_write_test import SECRET
from trial import run_tests


class History(Past):
    def test_a_page_is_told_what_prometheus_answers(self):
        server = Prometheus(self.trial)
        self.begin_with_history(server)
        of_node = ('sum(rapl_power_watts{node="warm"}) + sum(rapl_zone_power_watts{node="warm",zone="dram"})')
        of_each = '(sum by (node) (rapl_power_watts) + sum by (node) (rapl_zone_power_watts{zone="dram"}))'
        self.until_equal(server, {"": 'rapl_power_watts{node="warm",package="0"}'}, ("node", "warm"), ("family", "rapl_power_watts"), ("label", "package=0"))
        self.until_equal(server, {"": of_node}, ("node", "warm"), ("metric", "rapl_power_watts"))
        self.until_equal(server, {"": 'rapl_power_watts{node="warm",package="1"}'}, ("node", "warm"), ("metric", "collectd_package_1_power_power"))
        self.until_equal(server, {"lowest": f"min({of_each})", "median": f"quantile(0.5, {of_each})", "highest": f"max({of_each})"}, ("metric", "rapl_power_watts"))
        # A rule's window: the statistic over that time.
        self.until_equal(server, {"": f"avg_over_time(({of_node})[10s:1s])"}, ("node", "warm"), ("metric", "rapl_power_watts"), ("window", "avg 10s"))
        self.until_equal(server, {"": 'max_over_time(rapl_power_watts{node="warm",package="0"}[20s:1s])'},
                         ("node", "warm"), ("family", "rapl_power_watts"), ("label", "package=0"), ("window", "max 20s"))
        # The query that the page shows can be asked of Prometheus as it is.
        _, told = self.past(("node", "cool"), ("metric", "rapl_power_watts"))
        self.assertTrue(self.asked(server, told["query"], told))
        # Nothing is known of it: no line, and no trouble.
        self.assertEqual(self.past(("node", "nobody"), ("metric", "rapl_power_watts"))[1]["lines"], [])
        self.assertEqual(self.past(("node", 'x"} or vector(1) #'), ("metric", "rapl_power_watts"))[1]["lines"], [])
        self.assertEqual(self.past(("metric", 'x"} or vector(1) #'))[1]["lines"], [])

        # The database goes away: one sentence; and it comes back.
        self.trial.end("prometheus")
        status, told = self.past(("metric", "rapl_power_watts"))
        self.assertEqual(status, 502)
        self.assertIn(f"cannot ask {server.base} for history", told["error"])
        server.start()
        self.trial.wait_for("its return", lambda: self.past(("metric", "rapl_power_watts"))[0] == 200)

    def test_a_series_that_came_by_two_ways_counts_once(self):
        pki = self.trial.pki
        nodes = {"job_name": "nodes", "scheme": "https", "metrics_path": "/metrics/nodes", "params": {"family": ["rapl_power_watts", "rapl_zone_power_watts"]},
                 "tls_config": {"ca_file": str(pki / "server-ca.crt"), "cert_file": str(pki / "client-cli.crt"), "key_file": str(pki / "client-cli.key")},
                 "static_configs": [{"targets": [f"localhost:{self.trial.ports['ops']}"]}]}
        server = Prometheus(self.trial, scrape=[nodes])
        self.begin_with_history(server, series=8)
        self.until_equal(server, {"": 'sum(max by (package) (rapl_power_watts{node="warm"})) + sum(max by (package) (rapl_zone_power_watts{node="warm",zone="dram"}))'},
                         ("node", "warm"), ("metric", "rapl_power_watts"))

    def test_over_tls_with_a_password_from_a_file(self):
        secret = self.trial.folder / "secret"
        web = {"tls_server_config": {"cert_file": str(self.trial.pki / "aggregator.crt"), "key_file": str(self.trial.pki / "aggregator.key")},
               "basic_auth_users": {"binnacle": SECRET}}
        server = Prometheus(self.trial, web, self.trial.pki / "server-ca.crt", "Basic YmlubmFjbGU6b3BlbiBzZXNhbWU=")
        secret.write_text("wrong")
        given = {"ca": self.trial.pki / "server-ca.crt", "user": "binnacle", "token": secret}
        self.begin_with_history(server, *(word for key, value in given.items() for word in (f"--history-{key}", value)))
        status, told = self.past(("metric", "rapl_power_watts"))
        self.assertEqual(status, 502)
        self.assertIn("refuses to tell history with 401", told["error"])
        self.assertIn("--history-token", told["error"])
        secret.write_text("open sesame\n")  # read for every question
        self.assertEqual(self.past(("metric", "rapl_power_watts"))[0], 200)

    def begin_writing(self, server, *more):
        if server.ca:
            secret = self.trial.folder / "writer"
            secret.write_text("open sesame")
            more += ("--remote-write-ca", server.ca, "--remote-write-user", "binnacle", "--remote-write-token", secret)
        super().begin_writing(server, *more)


if __name__ == "__main__":
    run_tests(holder="loop", missing=missing())
