"""A gRPC server of both protocols of model servers, for grpc_test.py: grpcio's own server, and protobuf's own messages, so that nothing of ours reads
what ours writes. It says 100 W, 2 W for each percent of load, and 1 W for each degree above 22 (V2), or 100 W and 200 W times the load (TensorFlow).

    /usr/bin/python3 grpc_server.py PORT [--certificate FILE --key FILE] [--most ROWS] [--form typed|raw] [--described]
                                   [--password USER:PASSWORD]

The messages are described here, field by field, by the public definitions (open-inference-protocol's grpc_predict_v2.proto; tensorflow/serving's
predict.proto, model.proto and tensorflow's tensor.proto): no package of Debian has them as Python.
"""

import argparse
import base64
import concurrent.futures
import pathlib
import struct
import sys

try:
    import grpc
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError as missing:
    sys.exit(f"grpc_server: {missing} (Debian: python3-grpcio, python3-protobuf)")

F = descriptor_pb2.FieldDescriptorProto
KINDS = {"string": F.TYPE_STRING, "bytes": F.TYPE_BYTES, "int32": F.TYPE_INT32, "int64": F.TYPE_INT64, "uint32": F.TYPE_UINT32, "uint64": F.TYPE_UINT64,
         "float": F.TYPE_FLOAT, "double": F.TYPE_DOUBLE, "bool": F.TYPE_BOOL}

# package -> message -> (number, name, type), with * for repeated ones. A map is a repeated message of key and value.
MESSAGES = {
    "inference": {
        "Contents": [(2, "int_contents", "*int32"), (3, "int64_contents", "*int64"), (4, "uint_contents", "*uint32"), (5, "uint64_contents", "*uint64"),
                     (6, "fp32_contents", "*float"), (7, "fp64_contents", "*double")],
        "Tensor": [(1, "name", "string"), (2, "datatype", "string"), (3, "shape", "*int64"), (5, "contents", "Contents")],
        "TensorMetadata": [(1, "name", "string"), (2, "datatype", "string"), (3, "shape", "*int64")],
        "ModelMetadataRequest": [(1, "name", "string"), (2, "version", "string")],
        "ModelMetadataResponse": [(1, "name", "string"), (2, "versions", "*string"), (3, "platform", "string"), (4, "inputs", "*TensorMetadata"),
                                  (5, "outputs", "*TensorMetadata")],
        "ModelInferRequest": [(1, "model_name", "string"), (2, "model_version", "string"), (3, "id", "string"), (5, "inputs", "*Tensor"),
                              (7, "raw_input_contents", "*bytes")],
        "ModelInferResponse": [(1, "model_name", "string"), (2, "model_version", "string"), (3, "id", "string"), (5, "outputs", "*Tensor"),
                               (6, "raw_output_contents", "*bytes")],
    },
    "serving": {
        "Int64Value": [(1, "value", "int64")],
        "ModelSpec": [(1, "name", "string"), (2, "version", "Int64Value"), (3, "signature_name", "string")],
        "Dimension": [(1, "size", "int64")],
        "Shape": [(2, "dim", "*Dimension")],
        "Tensor": [(1, "dtype", "int32"), (2, "tensor_shape", "Shape"), (4, "tensor_content", "bytes"), (5, "float_val", "*float"), (6, "double_val", "*double")],
        "Entry": [(1, "key", "string"), (2, "value", "Tensor")],
        "PredictRequest": [(1, "model_spec", "ModelSpec"), (2, "inputs", "*Entry")],
        "PredictResponse": [(1, "outputs", "*Entry"), (2, "model_spec", "ModelSpec")],
    },
}


def described(package, messages):
    file = descriptor_pb2.FileDescriptorProto(name=package + ".proto", package=package, syntax="proto3")
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for number, field, kind in fields:
            one = message.field.add(name=field, number=number, label=F.LABEL_REPEATED if kind.startswith("*") else F.LABEL_OPTIONAL)
            kind = kind.lstrip("*")
            if kind in KINDS:
                one.type = KINDS[kind]
            else:
                one.type, one.type_name = F.TYPE_MESSAGE, f".{package}.{kind}"
    return file


POOL = descriptor_pool.DescriptorPool()
for its, all_of_it in MESSAGES.items():
    POOL.Add(described(its, all_of_it))


def message(name):
    found = POOL.FindMessageTypeByName(name)
    return message_factory.GetMessageClass(found) if hasattr(message_factory, "GetMessageClass") else message_factory.MessageFactory(POOL).GetPrototype(found)


def floats(raw):
    return struct.unpack(f"<{len(raw) // 4}f", raw)


def rows_of(values, columns):
    if columns <= 0 or len(values) % columns:
        raise ValueError("the rows are not of one width")
    return [values[i:i + columns] for i in range(0, len(values), columns)]


class Server:
    def __init__(self, most, form, described, password):
        self.most, self.form, self.described, self.calls = most, form, described, 0
        self.wanted = "Basic " + base64.b64encode(password.encode()).decode() if password else None

    def check(self, context):
        """Whether the caller gave the password. The refusal repeats what it gave, as careless servers do."""
        given = dict(context.invocation_metadata()).get("authorization")
        if self.wanted and given != self.wanted:
            print("wrong password" if given else "no password", flush=True)
            context.abort(grpc.StatusCode.UNAUTHENTICATED, f"you said {given}")

    def count(self, rows, context):
        self.calls += 1
        print(f"call {self.calls}: {len(rows)} rows", flush=True)
        if len(rows) > self.most:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"inference request batch-size must be <= {self.most}, not {len(rows)} % ä")

    def metadata(self, request, context):
        self.check(context)
        print(f"metadata of {request.name} {request.version}", flush=True)
        if not self.described:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "it does not describe its models")
        answer = message("inference.ModelMetadataResponse")(name=request.name, versions=["1"], platform="test")
        answer.inputs.add(name="features", datatype="FP64", shape=[-1, 3])
        answer.outputs.add(name="predict", datatype="FP64", shape=[-1, 1])
        return answer

    def infer(self, request, context):
        self.check(context)
        if request.model_name != "pc-model":
            context.abort(grpc.StatusCode.NOT_FOUND, f"Model {request.model_name} not found")
        tensor = request.inputs[0]
        assert (tensor.name, tensor.datatype) == (("features", "FP64") if self.described else ("predict-prob", "FP32")), tensor
        contents = tensor.contents.fp64_contents if self.described else tensor.contents.fp32_contents
        rows = rows_of(list(contents), tensor.shape[1])
        assert len(rows) == tensor.shape[0], tensor.shape
        self.count(rows, context)
        watts = [100 + 2 * row[0] + (row[1] - 22) for row in rows]
        answer = message("inference.ModelInferResponse")(model_name=request.model_name, model_version="1")
        output = answer.outputs.add(name="predict", datatype="FP32" if self.form == "raw" else "FP64", shape=[len(watts), 1])
        if self.form == "raw":
            answer.raw_output_contents.append(struct.pack(f"<{len(watts)}f", *watts))
        else:
            output.contents.fp64_contents.extend(watts)
        return answer

    def predict(self, request, context):
        spec = request.model_spec
        if spec.name != "konohana":
            context.abort(grpc.StatusCode.NOT_FOUND, f"Servable not found for request: Latest({spec.name})")
        if spec.signature_name != "konohana":
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, f'Serving signature key "{spec.signature_name or "serving_default"}" not found.')
        inputs = {one.key: one.value for one in request.inputs}
        shape = [one.size for one in inputs["inputs"].tensor_shape.dim]
        rows = rows_of(floats(inputs["inputs"].tensor_content), shape[1])
        assert [len(rows), 4] == shape, shape
        self.count(rows, context)
        watts = [100 + 200 * row[0] for row in rows]
        answer = message("serving.PredictResponse")(model_spec=spec)
        for key in ("extra", "outputs"):
            tensor = answer.outputs.add(key=key).value
            tensor.dtype = 1
            for size in (len(watts), 1):
                tensor.tensor_shape.dim.add(size=size)
            values = watts if key == "outputs" else [1.0]
            if self.form == "raw":
                tensor.tensor_content = struct.pack(f"<{len(values)}f", *values)
            else:
                tensor.float_val.extend(values)
        return answer


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("port", type=int)
    options.add_argument("--certificate")
    options.add_argument("--key")
    options.add_argument("--most", type=int, default=1000)
    options.add_argument("--form", choices=["typed", "raw"], default="typed")
    options.add_argument("--described", action="store_true", help="the V2 model takes the input features of FP64, and its metadata say so")
    options.add_argument("--password", help="basic authentication: what a caller must give in the metadata authorization")
    asked = options.parse_args()
    models = Server(asked.most, asked.form, asked.described, asked.password)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    for service, method, does, takes, gives in (
            ("inference.GRPCInferenceService", "ModelMetadata", models.metadata, "inference.ModelMetadataRequest", "inference.ModelMetadataResponse"),
            ("inference.GRPCInferenceService", "ModelInfer", models.infer, "inference.ModelInferRequest", "inference.ModelInferResponse"),
            ("tensorflow.serving.PredictionService", "Predict", models.predict, "serving.PredictRequest", "serving.PredictResponse")):
        handler = grpc.unary_unary_rpc_method_handler(does, request_deserializer=message(takes).FromString,
                                                      response_serializer=message(gives).SerializeToString)
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
    where = f"127.0.0.1:{asked.port}"
    if asked.certificate:
        pair = (pathlib.Path(asked.key).read_bytes(), pathlib.Path(asked.certificate).read_bytes())
        port = server.add_secure_port(where, grpc.ssl_server_credentials([pair]))
    else:
        port = server.add_insecure_port(where)
    server.start()
    print(f"serves on {port}", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
