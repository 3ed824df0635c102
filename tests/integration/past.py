"""What the tests of the dashboard's history stand on: a page's questions, and what the database itself says to them."""

import http.client
import json
import urllib.parse

from writing import Writing


class Past(Writing):
    """A database that the aggregator writes to, and the dashboard that asks it."""

    def begin_with_history(self, server, *more, series=4, watts="rapl_power_watts"):
        server.start()
        self.begin_writing(server)
        self.trial.wait_for("the watts of both nodes", lambda: len(server.query(watts)) == series)
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
        """What the database itself says to `query` at the times that the page was told of: [[ms, value]]."""
        when = {"query": query, "start": told["fromMs"] / 1000, "end": told["toMs"] / 1000, "step": told["stepMs"] / 1000}
        found = json.loads(server.get("/api/v1/query_range?" + urllib.parse.urlencode(when)))["data"]["result"]
        assert len(found) <= 1, found
        return [[round(at * 1000), float(value)] for at, value in found[0]["values"]] if found else []

    def until_equal(self, server, queries, *what):
        """The page's lines are what the database says to these queries; a reading that comes in between is waited for."""
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
