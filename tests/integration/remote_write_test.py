"""Remote write into a real Prometheus: every digit, the time of reading, series that end, a server that is away or refuses.

Run by meson (suite integration), or by hand: python3 tests/integration/remote_write_test.py --build build [TestName]
"""

import itertools
import os
import sys

import loop
from prometheus import Prometheus, program
from trial import run_tests

# Numbers whose text a careless conversion would change.
NUMBERS = ["0.1", "71.4", "123456789", "-3.25", "0.000001", "1e+06"]
# bcrypt of "open sesame"
SECRET = "$2b$04$nJX4rHymNWyoqleTyimRmeHgyXqS/upHFmBWWYJeb9efFNktiR4Bu"


class RemoteWrite(loop.Loop):
    def begin_writing(self, server, *more):
        self.begin(loop.policy(loop.rule("dontschedule", 500)), "--remote-write", server.url, "--remote-write-interval", "1s", *more)

    def start_textfile(self, value):
        """The agent of node cool now reads one number from a file, and nothing else."""
        self.texts = self.trial.folder / "textfile"
        self.texts.mkdir()
        self.say(value)
        self.trial.end("cool")
        self.trial.start_agent("cool", "--sources", "textfile", "--textfile-directory", self.texts)

    def say(self, value):
        new = self.texts / "new"
        new.write_text(f"my_number {value}\n")
        os.replace(new, self.texts / "mine.prom")

    def number(self, family, **labels):
        """A number of the aggregator's own /metrics."""
        for line in self.trial.ask("ops", "/metrics")[1].splitlines():
            if line.startswith(family) and all(f'{k}="{v}"' in line for k, v in labels.items()):
                return float(line.rsplit(" ", 1)[1])
        return 0.0

    def stored(self, server):
        """What the database has of the number: [(time, value)]."""
        return [(at, float(text)) for at, text in server.values('my_number{node="cool"}')]

    def test_every_reading_arrives_with_its_digits_its_time_and_its_labels(self):
        server = Prometheus(self.trial)
        server.start()
        self.begin_writing(server)
        self.trial.wait_for("the watts of both nodes", lambda: {one["metric"]["node"] for one in server.query("rapl_power_watts")} == {"cool", "warm"})
        one = server.query('rapl_power_watts{node="warm",package="0"}')
        self.assertEqual(one[0]["metric"], {"__name__": "rapl_power_watts", "node": "warm", "package": "0"})
        self.start_textfile(NUMBERS[0])
        for text in NUMBERS:
            self.say(text)
            self.trial.wait_for(f"{text} in the database", lambda text=text: any(value == float(text) for _, value in self.stored(server)))
        stored = self.stored(server)
        self.assertEqual([value for value, _ in itertools.groupby(value for _, value in stored)], [float(text) for text in NUMBERS],
                         "each number, in order, and nothing in between")
        self.assertTrue(all(a < b for (a, _), (b, _) in itertools.pairwise(stored)), "each reading once")
        # The node's watts ended with its agent; without their end Prometheus would show the last value for five minutes more.
        self.trial.wait_for("the end of the node's watts", lambda: not server.query('rapl_power_watts{node="cool"}'))
        self.assertTrue(server.query('rapl_power_watts{node="warm"}'))

    def test_a_server_that_was_away_gets_what_it_missed(self):
        server = Prometheus(self.trial)
        server.start()
        self.begin_writing(server)
        self.start_textfile(0)
        self.trial.wait_for("the first number", lambda: self.stored(server))
        self.trial.end("prometheus")
        self.trial.wait_for("the warning", lambda: "remote write: " in self.trial.cli("status").stdout)
        for value in (1, 2, 3):
            self.say(value)
            self.trial.wait_for("the aggregator to know it", lambda value=value: [
                item for item in self.trial.metric("my_number", "cool") if item["value"] == str(value)])
            for _ in range(2):  # of two rounds that end from now on, the second has begun from now on
                before = self.waiting()
                self.trial.wait_for("another round", lambda before=before: self.waiting() > before)
        self.assertEqual(self.passing(), ["cool", "warm"], "decisions do not wait for a database")
        server.start()
        self.trial.wait_for("nothing waits", lambda: self.waiting() == 0)
        self.trial.wait_for("no warning", lambda: "remote write: " not in self.trial.cli("status").stdout)
        self.assertEqual(self.number("binnacle_remote_write_samples_total", outcome="dropped"), 0)
        self.assertEqual(self.number("binnacle_remote_write_samples_total", outcome="refused"), 0)
        self.assertLessEqual({1.0, 2.0, 3.0}, {value for _, value in self.stored(server)}, "what it missed")

    def waiting(self):
        return self.number("binnacle_remote_write_waiting_bytes")

    def test_a_server_that_does_not_take_writes_is_named_with_the_remedy_and_asked_no_more_than_once(self):
        server = Prometheus(self.trial)
        server.start(takes_writes=False)
        self.begin_writing(server)
        self.trial.wait_for("the warning", lambda: "--web.enable-remote-write-receiver" in self.trial.cli("status").stdout)
        self.trial.wait_for("the count", lambda: self.number("binnacle_remote_write_samples_total", outcome="refused") > 0)
        self.assertEqual(self.number("binnacle_remote_write_retries_total"), 0)
        self.assertEqual(self.number("binnacle_remote_write_samples_total", outcome="sent"), 0)

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
    if program() is None:
        print("skipped: no Prometheus on PATH or in the cache; scripts/bootstrap --prometheus brings Debian's (19 MB)")
        sys.exit(77)
    run_tests(holder="loop")
