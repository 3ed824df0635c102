"""Connections that say nothing, or only a part of a request or of a handshake: they take no port's places from anybody.

Run by meson (suite hostile), or by hand: python3 tests/hostile/silent_test.py --build build [TestName]
"""

import http.client
import pathlib

from attacked import PATIENCE, Hostile
from trial import free_port, run_tests


class SilentConnections(Hostile):
    """4,096 silent connections to the port of health once made the kubelet restart a replica; 64 were enough at an agent."""

    def pressed(self, server, *reasons):
        """How many connections that server closed for these reasons."""
        return sum(self.counted("binnacle_http_dropped_total", server=server, reason=reason) for reason in reasons)

    def test_twenty_thousand_at_all_faces_take_nothing_from_anybody(self):
        self.begin()
        calm = self.watch_filter()
        self.asked_again(calm, times=200)
        self.assert_served(filter=calm)
        health, scheduler = self.watch_health(), self.watch_filter()
        crowds = [self.crowd(self.trial.ports[face], many=5000, rate=2000, first=first)
                  for first, face in enumerate(("health", "ops", "metrics", "extender"), start=1)]
        for server in ("health", "ops", "custom metrics", "extender"):
            self.wait_for(f"the crowd at {server} to lose connections", lambda: self.pressed(server, "evicted", "silent") > 1000)
        self.asked_again(health, scheduler, times=100)
        self.assert_served(livez=health, filter=scheduler)
        self.assertEqual(self.trial.ask("ops", "/api/v1/status")[0], 200)
        self.assertEqual(self.counted("binnacle_http_dropped_total", reason="full"), 0)
        self.assert_the_agent_stayed()
        for crowd in crowds:
            self.end_crowd(crowd)

    def test_a_low_limit_of_open_files_is_shared_by_port(self):
        self.begin(under=["prlimit", "--nofile=1024:1024"])
        self.assertIn("only 1024 files may be open", self.trial.log("aggregator"))
        health, scheduler = self.watch_health(), self.watch_filter()
        # Said, half said, and a session without a certificate: each waits where another would stop it. Each crowd has a network of its own, and so has who
        # behaves: with so few places, a crowd behind the same address is faster than a handshake (SECURITY.md).
        for first, (face, say) in enumerate((("health", "request"), ("ops", "half-hello"), ("ops", "session"), ("metrics", "session"), ("ingest", "hello"),
                                             ("ingest", "nothing"), ("health", "nothing")), start=1):
            self.crowd(self.trial.ports[face], many=600, rate=200, say=say, first=first)
        for server in ("health", "ops", "custom metrics"):
            self.wait_for(f"the crowds at {server} to lose connections", lambda: self.pressed(server, "evicted", "silent") > 50)
        # With so few places the lobby is full before anybody in it was silent for three seconds.
        self.wait_for("the crowds at the agents' port to lose connections",
                      lambda: self.refused("silent", "handshake", "evicted") + self.counted("binnacle_dropped_total", buffer="handshake_queue") > 50)
        self.asked_again(health, scheduler)
        self.assert_served(livez=health, filter=scheduler)
        self.assertEqual(self.trial.ask("metrics", "/apis/custom.metrics.k8s.io/v1beta2")[0], 200)
        self.assertNotIn("cannot accept connections", self.trial.log("aggregator"))
        self.assert_the_agent_stayed()

    def test_a_program_may_open_as_many_files_as_the_hard_limit_says(self):
        self.begin(under=["prlimit", "--nofile=1024:5000"])
        limits = pathlib.Path(f"/proc/{self.trial.processes['aggregator'].pid}/limits").read_text()
        self.assertRegex(limits, r"Max open files\s+5000\s+5000")

    def test_an_agents_health_has_a_port_of_its_own_and_neither_port_is_kept_by_a_crowd(self):
        self.begin()
        listen, health_port = free_port(), free_port()
        self.trial.start_agent("late", "--health", f"127.0.0.1:{health_port}", scrape=listen)
        self.wait_for("the second agent", lambda: self.counted("binnacle_sessions") == 2)
        health, scraper = self.watch_health(health_port), self.watch_health(listen)
        for first, port in enumerate((listen, health_port), start=1):
            self.crowd(port, many=500, first=first)
        self.wait_for("the crowds to lose connections", lambda: sum(self.scraped(listen, reason) for reason in ("evicted", "silent")) > 100)
        self.asked_again(health, scraper)
        self.assert_served(health=health, listen=scraper)
        connection = http.client.HTTPConnection("127.0.0.1", health_port, timeout=PATIENCE)
        connection.request("GET", "/metrics")
        self.assertEqual(connection.getresponse().status, 404)
        connection.close()


if __name__ == "__main__":
    run_tests(__doc__, "attacked")
