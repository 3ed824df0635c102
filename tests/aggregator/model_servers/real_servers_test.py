"""Real model servers answer the service that asks them, over REST and by gRPC: MLServer, the Triton that is inside the wheel of nvidia-pytriton, and
TensorFlow behind TensorFlow Serving's own service definition. `install` (beside this file) gets them from PyPI into the cache, some 2 GB, so each is
skipped where it is not.

Run by meson, or by hand: python3 tests/aggregator/model_servers/real_servers_test.py --build build [TestName]
"""

import json
import os
import pathlib
import shutil
import sys
import sysconfig
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "scripts")]
import asked  # noqa: E402  (the paths come first)
from trial import free_port, run_tests  # noqa: E402

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "binnacle/model-servers"

# 100 W, 2 W for each percent of load, and 1 W for each degree above 22.
MLSERVER_MODEL = '''
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse


class Watts(MLModel):
    async def load(self):
        return True

    async def predict(self, payload):
        rows = NumpyCodec.decode_input(payload.inputs[0])
        watts = (100 + 2 * rows[:, 0] + (rows[:, 1] - 22)).reshape(-1, 1).astype("float64")
        return InferenceResponse(model_name=self.name, model_version=self.version, outputs=[NumpyCodec.encode_output("predict", watts)])
'''
TRITON_MODEL = '''
import triton_python_backend_utils as triton


class TritonPythonModel:
    def execute(self, requests):
        rows = [triton.get_input_tensor_by_name(one, "predict-prob").as_numpy() for one in requests]
        watts = [(100 + 2 * r[:, 0] + (r[:, 1] - 22)).reshape(-1, 1).astype("float32") for r in rows]
        return [triton.InferenceResponse([triton.Tensor("predict", w)]) for w in watts]
'''
# Another model, whose input is called and typed otherwise.
OTHER_INPUT = [("predict-prob", "features"), ("TYPE_FP32, dims: [3]", "TYPE_FP64, dims: [3]")]
# It takes 40 rows at once: a curve of 101 points comes in pieces.
TRITON_CONFIG = '''
backend: "python"
max_batch_size: 40
input [{ name: "predict-prob", data_type: TYPE_FP32, dims: [3] }]
output [{ name: "predict", data_type: TYPE_FP32, dims: [1] }]
instance_group [{ kind: KIND_CPU, count: 1 }]
'''


class RealServers(asked.RealServer):
    def until_ready(self, port, path):
        def ready():
            time.sleep(0.2)
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}/ready", timeout=5):
                    return True
            except (urllib.error.URLError, OSError):
                return False
        self.running.wait_for("the server", ready, 120)

    def test_mlserver(self):
        program = CACHE / "mlserver/bin/mlserver"
        if not program.exists():
            self.skipTest("MLServer is not in the cache: tests/aggregator/model_servers/install mlserver")
        models = self.folder / "models"
        (models / "pc-model").mkdir(parents=True)
        http, grpc = free_port(), free_port()
        (models / "settings.json").write_text(json.dumps({"host": "127.0.0.1", "http_port": http, "grpc_port": grpc, "metrics_port": free_port(),
                                                          "parallel_workers": 0}))
        (models / "pc-model/model-settings.json").write_text(json.dumps({"name": "pc-model", "implementation": "watts_model.Watts",
                                                                         "parameters": {"version": "v0.1.0"}}))
        (models / "watts_model.py").write_text(MLSERVER_MODEL)
        self.running.start("mlserver", "env", f"PYTHONPATH={models}", program, "start", models)
        path = "/v2/models/pc-model/versions/v0.1.0"
        self.until_ready(http, path)
        self.ask(f"http://127.0.0.1:{http}{path}")
        self.ask(f"grpc://127.0.0.1:{grpc}{path}")

    def test_triton_whose_batches_are_smaller_than_a_curve(self):
        """Started by itself: pytriton's own launcher wants the very Python that its stubs were built with."""
        wheel = CACHE / "triton"
        server = wheel / "pytriton/tritonserver/bin/tritonserver"
        stub = wheel / f"pytriton/tritonserver/python_backend_stubs/{sys.version_info.major}.{sys.version_info.minor}/triton_python_backend_stub"
        if not server.exists() or not stub.exists():
            self.skipTest("Triton, or its stub for this Python, is not in the cache: tests/aggregator/model_servers/install triton")
        model = self.folder / "models/pc-model"
        (model / "1").mkdir(parents=True)
        other = self.folder / "models/other-input"
        (other / "1").mkdir(parents=True)
        for path, text in (("1/model.py", TRITON_MODEL), ("config.pbtxt", TRITON_CONFIG)):
            (model / path).write_text(text)
            for usual, instead in OTHER_INPUT:
                text = text.replace(usual, instead)
            (other / path).write_text(text)
        backend = self.folder / "backends/python"
        shutil.copytree(wheel / "pytriton/tritonserver/backends/python", backend)
        shutil.copy(stub, backend / "triton_python_backend_stub")
        for program in (server, backend / "triton_python_backend_stub"):
            program.chmod(0o755)
        # The stub looks only beside itself for what a model imports.
        for library in ("numpy", "numpy.libs"):
            (backend / library).symlink_to(wheel / library)
        libraries = ":".join([str(wheel / "nvidia_pytriton.libs"), str(sysconfig.get_config_var("LIBDIR"))])
        http, grpc = free_port(), free_port()
        self.running.start("triton", "env", f"LD_LIBRARY_PATH={libraries}", f"PYTHONHOME={sys.base_prefix}", server,
                           "--model-repository", self.folder / "models", "--backend-directory", self.folder / "backends",
                           "--http-address", "127.0.0.1", "--http-port", http, "--grpc-address", "127.0.0.1", "--grpc-port", grpc, "--allow-metrics=false",
                           "--disable-auto-complete-config")
        for path in ("/v2/models/pc-model", "/v2/models/other-input"):
            self.until_ready(http, path)
            self.ask(f"http://127.0.0.1:{http}{path}")
            self.ask(f"grpc://127.0.0.1:{grpc}{path}")

    def test_tensorflow_behind_the_definition_of_tensorflow_serving(self):
        """The server itself is in no package and on no index; its messages and service are, and so is TensorFlow."""
        python = CACHE / "tensorflow/bin/python"
        if not python.exists():
            self.skipTest("TensorFlow is not in the cache: tests/aggregator/model_servers/install tensorflow")
        port = free_port()
        self.running.start("tensorflow", "env", "TF_CPP_MIN_LOG_LEVEL=2", python, HERE / "tensorflow_server.py", port, self.folder / "saved")
        self.running.wait_for("TensorFlow", lambda: "serves" in self.running.log("tensorflow"), 120)
        self.ask_tensorflow(port, "konohana", "1218", "konohana")


if __name__ == "__main__":
    run_tests(holder="asked")
