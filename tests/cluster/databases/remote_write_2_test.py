"""Remote write 2.0 into a real server that takes it, Prometheus 3, and 1.0 into one that does not. Go builds it (tests/cluster/build prometheus).

Run by scripts/test --cluster, or by hand: python3 tests/cluster/databases/remote_write_2_test.py --build build [TestName]
"""

import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "integration"), str(TESTS / "cluster")]
from support.control_plane import built  # noqa: E402  (the path comes first)
from prometheus import Prometheus  # noqa: E402
from trial import run_tests  # noqa: E402
from writing import Writing  # noqa: E402

PROGRAM = built("prometheus", "prometheus")


class RemoteWrite2(Writing):
    def server(self, message):
        """It answers 415 to every other form of request."""
        out = Prometheus(self.trial, None, None, None, f"--web.remote-write-receiver.accepted-protobuf-messages={message}", path=PROGRAM)
        out.start()
        return out

    def test_a_server_that_takes_2_0_alone_gets_every_digit(self):
        server = self.server("io.prometheus.write.v2.Request")
        self.begin_writing(server)
        self.trial.wait_for("the watts of both nodes", lambda: {one["metric"]["node"] for one in server.query("rapl_power_watts")} == {"cool", "warm"})
        self.assertEqual(server.query('rapl_power_watts{node="warm",package="0"}')[0]["metric"], {"__name__": "rapl_power_watts", "node": "warm", "package": "0"})
        self.check_numbers(server)
        self.trial.wait_for("the end of the node's watts", lambda: not server.query('rapl_power_watts{node="cool"}'))
        self.assertEqual(self.number("samples_total", outcome="refused"), 0)

    def test_a_day_of_values_comes_back_to_the_last_digit(self):
        self.check_day(self.server("io.prometheus.write.v2.Request"), "remote-write-2")

    def test_a_server_that_takes_1_0_alone_gets_every_digit(self):
        server = self.server("prometheus.WriteRequest")
        self.begin_writing(server)
        self.check_numbers(server)
        self.assertEqual(self.number("samples_total", outcome="refused"), 0)

    def test_a_server_that_was_away_gets_what_it_missed(self):
        server = self.server("io.prometheus.write.v2.Request")
        self.begin_writing(server)
        self.check_away(server, "remote write: ")


if __name__ == "__main__":
    run_tests(holder="loop", missing="" if PROGRAM else "no Prometheus 3 in the cache; tests/cluster/build prometheus builds it")
