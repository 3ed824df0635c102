"""Remote write into a real Prometheus: every digit, the time of reading, series that end, a server that is away or refuses.

Run by meson (suite integration), or by hand: python3 tests/integration/remote_write_test.py --build build [TestName]
"""

from writing import Front, Writing  # first: it finds trial.py
from prometheus import Prometheus, missing
from trial import run_tests

# bcrypt of "open sesame"
SECRET = "$2b$04$nJX4rHymNWyoqleTyimRmeHgyXqS/upHFmBWWYJeb9efFNktiR4Bu"


class RemoteWrite(Writing):
    def test_every_reading_arrives_with_its_digits_its_time_and_its_labels(self):
        server = Prometheus(self.trial)
        server.start()
        self.begin_writing(server)
        self.trial.wait_for("the watts of both nodes", lambda: {one["metric"]["node"] for one in server.query("rapl_power_watts")} == {"cool", "warm"})
        one = server.query('rapl_power_watts{node="warm",package="0"}')
        self.assertEqual(one[0]["metric"], {"__name__": "rapl_power_watts", "node": "warm", "package": "0"})
        self.check_numbers(server)
        # The node's watts ended with its agent; without their end Prometheus would show the last value for five minutes more.
        self.trial.wait_for("the end of the node's watts", lambda: not server.query('rapl_power_watts{node="cool"}'))
        self.assertTrue(server.query('rapl_power_watts{node="warm"}'))

    def test_a_day_of_values_comes_back_to_the_last_digit(self):
        server = Prometheus(self.trial)
        server.start()
        self.check_day(server, "remote-write-1")  # the server knows no 2.0

    def test_a_server_that_was_away_gets_what_it_missed(self):
        server = Prometheus(self.trial)
        server.start()
        self.begin_writing(server)
        self.check_away(server, "remote write: ")

    def test_a_server_that_throttles_is_left_alone_as_long_as_it_asks_for(self):
        server = Prometheus(self.trial)
        server.start()
        front = Front(server)
        self.addCleanup(front.stop)
        self.begin_writing(front)
        self.check_throttled(server, front, "remote write: ")

    def test_a_server_that_does_not_take_writes_is_named_with_the_remedy_and_asked_no_more_than_once(self):
        server = Prometheus(self.trial)
        server.start(takes_writes=False)
        self.begin_writing(server)
        self.trial.wait_for("the warning", lambda: "--web.enable-remote-write-receiver" in self.trial.cli("status").stdout)
        self.trial.wait_for("the count", lambda: self.number("samples_total", outcome="refused") > 0)
        self.assertEqual(self.number("retries_total"), 0)
        self.assertEqual(self.number("samples_total", outcome="sent"), 0)

    def test_over_tls_with_a_password(self):
        secret = self.trial.folder / "secret"
        web = {"tls_server_config": {"cert_file": str(self.trial.pki / "aggregator.crt"), "key_file": str(self.trial.pki / "aggregator.key")},
               "basic_auth_users": {"binnacle": SECRET}}
        server = Prometheus(self.trial, web, self.trial.pki / "server-ca.crt", "Basic YmlubmFjbGU6b3BlbiBzZXNhbWU=")
        server.start()
        secret.write_text("wrong")
        self.begin_writing(server, "--remote-write-ca", self.trial.pki / "server-ca.crt", "--remote-write-user", "binnacle",
                           "--remote-write-token", secret)
        self.trial.wait_for("the refusal", lambda: "refuses samples with 401" in self.trial.cli("status").stdout)
        secret.write_text("open sesame\n")  # as a projected secret changes
        self.trial.wait_for("the watts", lambda: server.query('rapl_power_watts{node="warm"}'))
        self.trial.wait_for("no warning", lambda: "remote write: " not in self.trial.cli("status").stdout)


if __name__ == "__main__":
    run_tests(holder="loop", missing=missing())
