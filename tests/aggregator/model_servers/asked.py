"""What tests with real servers share: a folder, the servers' processes, and the component test that asks them."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from trial import ROOT, Processes  # noqa: E402  (the path comes first)

BUILD = ROOT / "build"


class RealServer(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="binnacle-models-"))
        self.running = Processes(self.folder)
        self.addCleanup(self.running.stop)

    def run_case(self, name, **variables):
        tried = subprocess.run([BUILD / "tests/aggregator/aggregator_component_test", f"-tc=*{name}*"], capture_output=True, text=True,
                               env={**os.environ, **variables}, timeout=300, check=False)
        self.assertEqual(tried.returncode, 0, tried.stdout + tried.stderr)
        self.assertIn("1 passed", tried.stdout)

    def ask(self, model, authority="", user="", password=""):
        """A V2 model by its URL, which says 100 W, 2 W for each percent and 1 W for each degree above 22."""
        self.run_case("a real model server", BINNACLE_MODEL=model, BINNACLE_MODEL_CA=str(authority), BINNACLE_MODEL_USER=user,
                      BINNACLE_MODEL_PASSWORD=password)

    def ask_tensorflow(self, port, name, version, signature):
        """A model of TensorFlow Serving, by a node's labels, which says 100 W and 200 W at full load."""
        self.run_case("a real TensorFlow model", BINNACLE_TF_MODEL=f"{port} {name} {version} {signature}")
