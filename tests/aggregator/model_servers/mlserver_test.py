"""A real MLServer answers the service that asks model servers. Installs it from PyPI into a folder of its own (some 200 MB), so it runs only when it is asked for:
  python3 tests/aggregator/model_servers/mlserver_test.py --build build [--venv FOLDER]
Skipped, with the reason, where it cannot be installed.
"""

import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

MLSERVER = "mlserver==1.7.1"
PATIENCE = 60  # seconds: a wait that fails is a fault, not a slow machine
MODEL = '''
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse


class Watts(MLModel):
    """100 W, 2 W for each percent of load, and 1 W for each degree above 22."""

    async def load(self):
        return True

    async def predict(self, payload):
        rows = NumpyCodec.decode_input(payload.inputs[0])
        watts = (100 + 2 * rows[:, 0] + (rows[:, 1] - 22)).reshape(-1, 1).astype("float64")
        return InferenceResponse(model_name=self.name, model_version=self.version, outputs=[NumpyCodec.encode_output("predict", watts)])
'''


def free_ports(count):
    doors = [socket.socket() for _ in range(count)]
    for door in doors:
        door.bind(("127.0.0.1", 0))
    ports = [door.getsockname()[1] for door in doors]
    for door in doors:
        door.close()
    return ports


def installed(folder):
    """The program, or why it cannot be had."""
    program = folder / "bin" / "mlserver"
    if program.exists():
        return program, ""
    made = subprocess.run([sys.executable, "-m", "venv", str(folder)], capture_output=True, text=True, check=False)
    if made.returncode == 0:
        made = subprocess.run([str(folder / "bin" / "pip"), "install", "-q", MLSERVER], capture_output=True, text=True, check=False)
    return (program, "") if made.returncode == 0 else (None, made.stderr.strip().splitlines()[-1] if made.stderr.strip() else "pip failed")


class RealServer(unittest.TestCase):
    def test_mlserver(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            program, why = installed(ARGS.venv or folder / "venv")
            if program is None:
                self.skipTest(f"{MLSERVER} cannot be installed here: {why}")
            models = folder / "models"
            (models / "pc-model").mkdir(parents=True)
            http, grpc, metrics = free_ports(3)
            (models / "settings.json").write_text(json.dumps({"host": "127.0.0.1", "http_port": http, "grpc_port": grpc, "metrics_port": metrics, "parallel_workers": 0}))
            (models / "pc-model" / "model-settings.json").write_text(json.dumps({"name": "pc-model", "implementation": "watts_model.Watts", "parameters": {"version": "v0.1.0"}}))
            (models / "watts_model.py").write_text(MODEL)
            with open(folder / "log", "w", encoding="utf-8") as log:
                server = subprocess.Popen([str(program), "start", str(models)], stdout=log, stderr=log, env={**os.environ, "PYTHONPATH": str(models)})
            try:
                self.wait_ready(server, http, folder / "log")
                tried = subprocess.run([str(ARGS.build / "tests/aggregator/model_servers/model_servers_component_test"), "-tc=*real MLServer*"],
                                       env={**os.environ, "BINNACLE_MLSERVER": f"127.0.0.1:{http}"}, capture_output=True, text=True, timeout=5 * PATIENCE, check=False)
                self.assertEqual(tried.returncode, 0, tried.stdout + tried.stderr)
                self.assertIn("1 passed", tried.stdout)
            finally:
                server.terminate()
                server.wait()

    def wait_ready(self, server, port, log):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and server.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/models/pc-model/ready", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        self.fail("MLServer is not ready:\n" + log.read_text(encoding="utf-8"))


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    options.add_argument("--venv", type=pathlib.Path, help="where it is installed, or will be")
    ARGS, rest = options.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
