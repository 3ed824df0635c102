"""The dashboard's history from a real Prometheus that the real programs have filled: what a page is told is what Prometheus answers.

Run by meson (suite integration), or by hand: python3 tests/integration/history_test.py --build build [TestName]
"""

import http.client
import json
import sys
import urllib.parse

from writing import Writing  # first: it finds trial.py
from prometheus import Prometheus, program
from remote_write_test import SECRET
from trial import run_tests


class History(Writing):
    def begin_with_history(self, server, *more, series=4):
        server.start()
        self.begin_writing(server)
        self.trial.wait_for("the watts of both nodes", lambda: len(server.query("rapl_power_watts")) == series)
        environment = [f"{name}={text}" for name, text in self.trial.cli_environment().items()]
        self.trial.start("dashboard", "env", *environment, self.trial.build / "cli/binnacle", "dashboard", "-o", "json", "--history", server.base, *more)
        self.trial.wait_for("the dashboard's link", lambda: '"link"' in self.trial.log("dashboard"))
        origin, secret = json.loads(self.trial.log("dashboard").splitlines()[0])["link"].split("/#link=")
        self.port = int(origin.rsplit(":", 1)[1])
        self.key = None
        self.key = self.page("POST", "/open", json.dumps({"link": secret}))[1]["key"]

    def page(self, method, path, body=None):
        """(status, JSON) as the page gets it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {self.key}"} if self.key else {})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def past(self, *what):
        return self.page("GET", "/history?" + urllib.parse.urlencode([("span", "15m"), *what]))

    @staticmethod
    def asked(server, query, told):
        """What Prometheus itself says to `query` at the times that the page was told of: [[ms, value]]."""
        when = {"query": query, "start": told["fromMs"] / 1000, "end": told["toMs"] / 1000, "step": told["stepMs"] / 1000}
        found = json.loads(server.get("/api/v1/query_range?" + urllib.parse.urlencode(when)))["data"]["result"]
        assert len(found) <= 1, found
        return [[round(at * 1000), float(value)] for at, value in found[0]["values"]] if found else []

    def until_equal(self, server, queries, *what):
        """The page's lines are what Prometheus says to these queries; a reading that comes in between is waited for."""
        def equal():
            status, told = self.past(*what)
            self.assertEqual(status, 200, told)
            lines = {line["name"]: line["points"] for line in told["lines"]}
            own = {name: self.asked(server, query, told) for name, query in queries.items()}
            self.seen = (lines, own)
            if lines.keys() != own.keys() or any(len(points) < 2 for points in lines.values()):
                return False
            return all(len(points) == len(own[name]) and all(a[0] == b[0] and abs(a[1] - b[1]) <= 1e-9 * abs(b[1]) for a, b in zip(points, own[name]))
                       for name, points in lines.items())
        try:
            self.trial.wait_for("equal lines", equal)
        except Exception as why:
            raise AssertionError(f"{what}: {self.seen}") from why

    def test_a_page_is_told_what_prometheus_answers(self):
        server = Prometheus(self.trial)
        self.begin_with_history(server)
        of_node = ('sum(rapl_power_watts{node="warm"}) + sum(rapl_zone_power_watts{node="warm",zone="dram"})')
        of_each = '(sum by (node) (rapl_power_watts) + sum by (node) (rapl_zone_power_watts{zone="dram"}))'
        self.until_equal(server, {"": 'rapl_power_watts{node="warm",package="0"}'}, ("node", "warm"), ("family", "rapl_power_watts"), ("label", "package=0"))
        self.until_equal(server, {"": of_node}, ("node", "warm"), ("metric", "rapl_power_watts"))
        self.until_equal(server, {"": 'rapl_power_watts{node="warm",package="1"}'}, ("node", "warm"), ("metric", "collectd_package_1_power_power"))
        self.until_equal(server, {"lowest": f"min({of_each})", "median": f"quantile(0.5, {of_each})", "highest": f"max({of_each})"}, ("metric", "rapl_power_watts"))
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
    if program() is None:
        print("skipped: no Prometheus on PATH or in the cache; scripts/bootstrap --prometheus brings Debian's (19 MB)")
        sys.exit(77)
    run_tests(holder="loop")
