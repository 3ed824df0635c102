"""TensorFlow behind the service that TensorFlow Serving defines: real messages (tensorflow-serving-api), real gRPC (grpcio), and a real SavedModel that
TensorFlow loads and runs. The server's own program is in no package. It is started by real_servers_test.py, with the Python of the cache:

    tensorflow_server.py PORT FOLDER

The model is of WAO's form: signature and name konohana, version 1218, inputs [n, 4], outputs [n, 1]. It says 100 W, and 200 W times the load.
"""

import concurrent.futures
import sys

import grpc
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc

NAME, VERSION = "konohana", 1218


class Watts(tf.Module):
    def __init__(self):
        super().__init__()
        self.weights = tf.Variable([[200.0], [0.0], [0.0], [0.0]])
        self.idle = tf.Variable([100.0])

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="inputs")])
    def watts(self, inputs):
        return {"outputs": tf.matmul(inputs, self.weights) + self.idle}


class Predictions(prediction_service_pb2_grpc.PredictionServiceServicer):
    """Errors as TensorFlow Serving words them (power-model facts: servable not found, signature not found, wrong inputs)."""

    def __init__(self, model):
        self.model = model

    def Predict(self, request, context):
        spec = request.model_spec
        if spec.name != NAME or (spec.HasField("version") and spec.version.value != VERSION):
            context.abort(grpc.StatusCode.NOT_FOUND, f"Servable not found for request: Specific({spec.name}, {spec.version.value})")
        signature = self.model.signatures.get(spec.signature_name or "serving_default")
        if signature is None:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, f'Serving signature key "{spec.signature_name}" not found.')
        if set(request.inputs) != {"inputs"}:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "input size does not match signature")
        answer = predict_pb2.PredictResponse()
        for key, value in signature(inputs=tf.constant(tf.make_ndarray(request.inputs["inputs"]))).items():
            answer.outputs[key].CopyFrom(tf.make_tensor_proto(value.numpy()))
        answer.model_spec.CopyFrom(spec)
        return answer


def main():
    port, folder = sys.argv[1:]
    made = Watts()
    tf.saved_model.save(made, folder, signatures={NAME: made.watts})
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(Predictions(tf.saved_model.load(folder)), server)
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    print(f"serves on {port}", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
