"""grpcio's own server answers the service that asks model servers by gRPC, in both protocols, with and without TLS. (real_servers_test.py has the servers
that people run.) Skipped without python3-grpcio and python3-protobuf, which scripts/bootstrap installs.

Run by meson, or by hand: /usr/bin/python3 tests/aggregator/model_servers/grpc_test.py --build build [TestName]
"""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "scripts")]
import asked  # noqa: E402  (the paths come first)
from trial import ROOT, free_port, run_tests  # noqa: E402

MODEL = "/v2/models/pc-model"


class GrpcioServer(asked.RealServer):
    def setUp(self):
        super().setUp()
        there = subprocess.run([sys.executable, "-c", "import grpc, google.protobuf"], capture_output=True, check=False)
        if there.returncode != 0:
            self.skipTest("this Python has no grpcio or no protobuf: scripts/bootstrap")

    def serve(self, *options):
        port = free_port()
        self.running.start("server", sys.executable, HERE / "grpc_server.py", port, *options)
        self.running.wait_for("the server", lambda: "serves" in self.running.log("server"), 60)
        return port

    def calls(self):
        return self.running.log("server").count("call ")

    def test_v2_with_values_in_their_fields(self):
        self.ask(f"grpc://127.0.0.1:{self.serve()}{MODEL}")
        self.assertEqual(self.calls(), 1, "a curve is one call")

    def test_v2_with_raw_values_and_a_limit_of_rows(self):
        self.ask(f"grpc://127.0.0.1:{self.serve('--form', 'raw', '--most', 40)}{MODEL}/versions/1")
        self.assertEqual(self.calls(), 2 + 5, "101 and 50 rows are too many, 25 are not")

    def test_v2_with_an_input_that_metadata_describe(self):
        self.ask(f"grpc://127.0.0.1:{self.serve('--described')}{MODEL}/versions/1")
        self.assertEqual(self.calls(), 1)
        self.assertEqual(self.running.log("server").count("metadata of pc-model 1"), 1, "they are read once")

    def serve_by_tls(self, *options):
        pki = self.folder / "pki"
        subprocess.run([ROOT / "scripts/pki", pki, "--server", "model"], check=True, capture_output=True)
        return self.serve("--certificate", pki / "model.crt", "--key", pki / "model.key", *options), pki / "server-ca.crt"

    def test_v2_with_tls(self):
        port, authority = self.serve_by_tls()
        self.ask(f"grpcs://127.0.0.1:{port}{MODEL}", authority)

    def test_v2_with_the_password_of_a_secret(self):
        port, authority = self.serve_by_tls("--password", "pc:open sesame ä")
        self.ask(f"grpcs://127.0.0.1:{port}{MODEL}", authority, "pc", "open sesame ä")
        self.assertGreaterEqual(self.running.log("server").count("wrong password"), 1)

    def test_tensorflow_with_values_in_their_fields(self):
        self.ask_tensorflow(self.serve(), "konohana", 1218, "konohana")

    def test_tensorflow_with_raw_values(self):
        self.ask_tensorflow(self.serve("--form", "raw"), "konohana", 1218, "konohana")


if __name__ == "__main__":
    run_tests(holder="asked")
