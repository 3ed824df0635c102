#include "aggregator/model_servers/message.hpp"

#include "aggregator/model_servers/tensor.hpp"
#include "common/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <utility>

namespace binnacle::model_servers {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::pbf_writer;
using tag = protozero::pbf_tag_type;

// open-inference-protocol: inference.ModelInferRequest, ModelInferResponse, InferInputTensor and
// InferOutputTensor, InferTensorContents; ModelMetadataRequest, ModelMetadataResponse and its TensorMetadata.
constexpr tag infer_name = 1, infer_version = 2, infer_inputs = 5;
constexpr tag infer_outputs = 5, infer_raw = 6;
constexpr tag tensor_name = 1, tensor_type = 2, tensor_shape = 3, tensor_contents = 5;
constexpr tag contents_int = 2, contents_int64 = 3, contents_uint = 4, contents_uint64 = 5, contents_fp32 = 6,
              contents_fp64 = 7;
constexpr tag metadata_name = 1, metadata_version = 2, metadata_inputs = 4;
constexpr tag described_name = 1, described_type = 2, described_shape = 3;
// tensorflow-serving-api: PredictRequest, PredictResponse, ModelSpec; tensorflow: TensorProto,
// TensorShapeProto.
constexpr tag predict_spec = 1, predict_inputs = 2, predict_outputs = 1, predicted_by = 2;
constexpr tag spec_name = 1, spec_version = 2, spec_signature = 3, wrapped_value = 1;
constexpr tag entry_key = 1, entry_value = 2;
constexpr tag proto_type = 1, proto_shape = 2, proto_content = 4, proto_float = 5, proto_double = 6,
              proto_int = 7, proto_int64 = 10, proto_half = 13;
constexpr tag shape_dimension = 2, dimension_size = 1;
constexpr std::int32_t tf_float = 1;

/// V2 answers of more outputs are read up to here.
constexpr std::size_t most_outputs = 16;

using values = std::vector<double>;

error no_message() { return {errc::protocol, "the answer is no message of this protocol"}; }

/// Reads a part of a repeated number: packed with others, or alone as `type`. If a server sends the field in
/// another form, it is skipped, because protozero can read a value only as the type in which it was sent.
/// Values beyond `most` are left out.
template <class Single, class Packed>
void add_to(values& out, std::size_t most, pbf_reader& from, pbf_wire_type type, Single single,
            Packed packed) {
  if (from.wire_type() == pbf_wire_type::length_delimited) {
    for (const auto one : packed()) {
      if (out.size() >= most) return;
      out.push_back(static_cast<double>(one));
    }
  } else if (from.wire_type() == type) {
    const auto one = static_cast<double>(single());
    if (out.size() < most) out.push_back(one);
  } else {
    from.skip();
  }
}

void add_floats(values& out, std::size_t most, pbf_reader& from) {
  add_to(
      out, most, from, pbf_wire_type::fixed32, [&] { return from.get_float(); },
      [&] { return from.get_packed_float(); });
}
void add_doubles(values& out, std::size_t most, pbf_reader& from) {
  add_to(
      out, most, from, pbf_wire_type::fixed64, [&] { return from.get_double(); },
      [&] { return from.get_packed_double(); });
}
void add_signed(values& out, std::size_t most, pbf_reader& from) {
  add_to(
      out, most, from, pbf_wire_type::varint, [&] { return from.get_int64(); },
      [&] { return from.get_packed_int64(); });
}
void add_unsigned(values& out, std::size_t most, pbf_reader& from) {
  add_to(
      out, most, from, pbf_wire_type::varint, [&] { return from.get_uint64(); },
      [&] { return from.get_packed_uint64(); });
}

/// The inputs of all rows, one after the other.
template <class Number>
std::vector<Number> rows_of(const question& q, std::size_t first, std::size_t count) {
  std::vector<Number> out;
  out.reserve(count * (q.count + std::size_t{1}));
  for (std::size_t i = first; i < first + count; ++i) {
    const auto inputs = inputs_at(q, i);
    for (std::size_t k = 0; k <= q.count; ++k) out.push_back(static_cast<Number>(inputs[k]));
  }
  return out;
}

std::string infer_request(const question& q, std::size_t first, std::size_t count, const model_input& given) {
  std::string out;
  pbf_writer request(out);
  request.add_string(infer_name, q.model.name);
  if (!q.model.version.empty()) request.add_string(infer_version, q.model.version);
  pbf_writer input(request, infer_inputs);
  input.add_string(tensor_name, given.name);
  input.add_string(tensor_type, given.fp64 ? "FP64" : "FP32");
  const std::array<std::int64_t, 2> shape{static_cast<std::int64_t>(count), q.count + std::int64_t{1}};
  const bool bare = given.of == model_input::shape::bare;
  input.add_packed_int64(tensor_shape, shape.begin() + (bare ? 1 : 0), shape.end());
  // Values are sent typed and not raw, because MLServer answers in the form of the question, and both
  // MLServer and Triton accept this form.
  pbf_writer contents(input, tensor_contents);
  if (given.fp64) {
    const auto rows = rows_of<double>(q, first, count);
    contents.add_packed_double(contents_fp64, rows.begin(), rows.end());
  } else {
    const auto rows = rows_of<float>(q, first, count);
    contents.add_packed_float(contents_fp32, rows.begin(), rows.end());
  }
  contents.commit();
  input.commit();
  return out;
}

std::string predict_request(const question& q, std::size_t first, std::size_t count) {
  std::string out;
  pbf_writer request(out);
  {
    pbf_writer spec(request, predict_spec);
    spec.add_string(spec_name, q.model.name);
    std::int64_t version = 0;
    const std::string& digits = q.model.version;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), version).ec == std::errc()) {
      pbf_writer wrapped(spec, spec_version);
      wrapped.add_int64(wrapped_value, version);
    }
    if (!q.model.signature.empty()) spec.add_string(spec_signature, q.model.signature);
  }
  pbf_writer entry(request, predict_inputs);
  entry.add_string(entry_key, "inputs");
  pbf_writer tensor(entry, entry_value);
  tensor.add_enum(proto_type, tf_float);
  {
    pbf_writer shape(tensor, proto_shape);
    for (const std::int64_t size : {static_cast<std::int64_t>(count), q.count + std::int64_t{1}}) {
      pbf_writer dimension(shape, shape_dimension);
      dimension.add_int64(dimension_size, size);
    }
  }
  const auto rows = rows_of<float>(q, first, count);
  tensor.add_bytes(proto_content, reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(float));
  tensor.commit();
  entry.commit();
  return out;
}

// Answers of V2.

struct output {
  std::string name;
  number type = number::none;
  values typed;
};

output read_output(pbf_reader from, std::size_t most) {
  output out;
  while (from.next()) {
    const bool text = from.wire_type() == pbf_wire_type::length_delimited;
    if (text && from.tag() == tensor_name) {
      out.name = from.get_string();
    } else if (text && from.tag() == tensor_type) {
      out.type = number_of_v2(from.get_string());
    } else if (text && from.tag() == tensor_contents) {
      pbf_reader contents = from.get_message();
      while (contents.next()) {
        switch (contents.tag()) {
          case contents_fp32: add_floats(out.typed, most, contents); break;
          case contents_fp64: add_doubles(out.typed, most, contents); break;
          case contents_int:
          case contents_int64: add_signed(out.typed, most, contents); break;
          case contents_uint:
          case contents_uint64: add_unsigned(out.typed, most, contents); break;
          default: contents.skip();
        }
      }
    } else {
      from.skip();
    }
  }
  return out;
}

/// Reads the output named "predict", else the first one. Of its values at most `most` are read.
result<model_answer> infer_response(std::string_view message, std::size_t most) {
  model_answer out;
  std::optional<output> chosen;
  std::size_t place = 0, outputs = 0;
  std::vector<std::string_view> raw;
  pbf_reader from(message.data(), message.size());
  while (from.next()) {
    const bool text = from.wire_type() == pbf_wire_type::length_delimited;
    if (text && from.tag() == infer_version) {
      const auto view = from.get_view();
      out.version = clip({view.data(), view.size()}, model_answer::longest_version);
    } else if (text && from.tag() == infer_outputs && outputs < most_outputs) {
      output one = read_output(from.get_message(), most);
      if (!chosen || one.name == "predict") {
        chosen = std::move(one);
        place = outputs;
      }
      ++outputs;
    } else if (text && from.tag() == infer_raw && raw.size() < most_outputs) {
      const auto view = from.get_view();
      raw.emplace_back(view.data(), view.size());
    } else {
      from.skip();
    }
  }
  if (!chosen) return error{errc::protocol, "the answer has no output"};
  if (raw.empty()) {
    out.watts = std::move(chosen->typed);
    return out;
  }
  if (place >= raw.size()) return error{errc::protocol, "the answer has fewer raw values than outputs"};
  auto numbers = numbers_in(raw[place], chosen->type, most);
  if (numbers.has_error()) return numbers.error();
  out.watts = std::move(*numbers);
  return out;
}

described_input read_description(pbf_reader from) {
  described_input out;
  while (from.next()) {
    const bool text = from.wire_type() == pbf_wire_type::length_delimited;
    if (text && from.tag() == described_name) {
      out.name = from.get_string();
    } else if (text && from.tag() == described_type) {
      out.datatype = from.get_string();
    } else if (text && from.tag() == described_shape) {
      for (const std::int64_t size : from.get_packed_int64()) {
        if (out.shape.size() == most_sizes) break;
        out.shape.push_back(size);
      }
    } else if (from.tag() == described_shape && from.wire_type() == pbf_wire_type::varint) {
      const std::int64_t size = from.get_int64();
      if (out.shape.size() < most_sizes) out.shape.push_back(size);
    } else {
      from.skip();
    }
  }
  return out;
}

// Answers of TensorFlow Serving.

/// The whole number in this field of a message; 0, its default, if the field is not there.
std::int64_t integer_in(pbf_reader from, tag field) {
  std::int64_t out = 0;
  while (from.next()) {
    if (from.tag() == field && from.wire_type() == pbf_wire_type::varint) {
      out = from.get_int64();
    } else {
      from.skip();
    }
  }
  return out;
}

/// The version that a ModelSpec names; empty if it names none.
std::string version_in(pbf_reader spec) {
  std::string out;
  while (spec.next()) {
    if (spec.tag() == spec_version && spec.wire_type() == pbf_wire_type::length_delimited) {
      out = std::to_string(integer_in(spec.get_message(), wrapped_value));
    } else {
      spec.skip();
    }
  }
  return out;
}

/// How many elements a shape has, at most `most`.
std::size_t elements_of(pbf_reader shape, std::size_t most) {
  std::size_t out = 1;
  while (shape.next()) {
    if (shape.tag() != shape_dimension || shape.wire_type() != pbf_wire_type::length_delimited) {
      shape.skip();
      continue;
    }
    const std::int64_t size = integer_in(shape.get_message(), dimension_size);
    // Neither factor is beyond `most`, which is small.
    out *= static_cast<std::size_t>(std::clamp<std::int64_t>(size, 0, static_cast<std::int64_t>(most)));
    out = std::min(out, most);
  }
  return out;
}

/// At most `most` values are read, and a shortened list is filled up to no more.
result<values> read_tensor(pbf_reader from, std::size_t most) {
  number type = number::none;
  std::size_t elements = 1;
  values typed, halves;
  std::string_view content;
  while (from.next()) {
    const bool text = from.wire_type() == pbf_wire_type::length_delimited;
    if (from.tag() == proto_type && from.wire_type() == pbf_wire_type::varint) {
      type = number_of_tf(from.get_enum());
    } else if (from.tag() == proto_shape && text) {
      elements = elements_of(from.get_message(), most);
    } else if (from.tag() == proto_content && text) {
      const auto view = from.get_view();
      content = {view.data(), view.size()};
    } else {
      switch (from.tag()) {
        case proto_float: add_floats(typed, most, from); break;
        case proto_double: add_doubles(typed, most, from); break;
        case proto_int:
        case proto_int64: add_signed(typed, most, from); break;
        case proto_half: add_signed(halves, most, from); break;
        default: from.skip();
      }
    }
  }
  if (!content.empty()) return numbers_in(content, type, most);
  for (const double one : halves) {
    const auto bits = static_cast<std::uint16_t>(std::clamp(one, 0.0, 65535.0));
    typed.push_back(type == number::bf16 ? from_bfloat(bits) : from_half(bits));
  }
  // If the last values are equal, TensorFlow may send only one of them.
  if (!typed.empty() && typed.size() < elements) typed.resize(elements, typed.back());
  return typed;
}

/// Reads the output named "outputs", as in WAO's models, else the first one by name, because the entries of a
/// map come in any order.
result<model_answer> predict_response(std::string_view message, std::size_t most) {
  model_answer out;
  std::optional<std::string> chosen;
  std::string_view tensor;
  pbf_reader from(message.data(), message.size());
  while (from.next()) {
    const bool is_message = from.wire_type() == pbf_wire_type::length_delimited;
    if (is_message && from.tag() == predicted_by) {
      out.version = version_in(from.get_message());
      continue;
    }
    if (!is_message || from.tag() != predict_outputs) {
      from.skip();
      continue;
    }
    pbf_reader entry = from.get_message();
    std::string key;
    std::string_view value;
    while (entry.next()) {
      const bool text = entry.wire_type() == pbf_wire_type::length_delimited;
      if (text && entry.tag() == entry_key) {
        key = entry.get_string();
      } else if (text && entry.tag() == entry_value) {
        const auto view = entry.get_view();
        value = {view.data(), view.size()};
      } else {
        entry.skip();
      }
    }
    const bool better = !chosen || key == "outputs" || (*chosen != "outputs" && key < *chosen);
    if (!better) continue;
    chosen = std::move(key);
    tensor = value;
  }
  if (!chosen) return error{errc::protocol, "the answer has no output"};
  auto numbers = read_tensor(pbf_reader(tensor.data(), tensor.size()), most);
  if (numbers.has_error()) return numbers.error();
  out.watts = std::move(*numbers);
  return out;
}

}  // namespace

std::string_view method_of(protocol speaks) noexcept {
  return speaks == protocol::v2 ? "/inference.GRPCInferenceService/ModelInfer"
                                : "/tensorflow.serving.PredictionService/Predict";
}

std::string message_of(const question& q, std::size_t first, std::size_t count, const model_input& input) {
  return q.model.speaks == protocol::v2 ? infer_request(q, first, count, input)
                                        : predict_request(q, first, count);
}

std::string metadata_message_of(const served_model& m) {
  std::string out;
  pbf_writer request(out);
  request.add_string(metadata_name, m.name);
  if (!m.version.empty()) request.add_string(metadata_version, m.version);
  return out;
}

std::vector<described_input> described_in_message(std::string_view message) {
  try {
    std::vector<described_input> out;
    pbf_reader from(message.data(), message.size());
    while (out.size() < most_inputs && from.next()) {
      if (from.tag() == metadata_inputs && from.wire_type() == pbf_wire_type::length_delimited) {
        out.push_back(read_description(from.get_message()));
      } else {
        from.skip();
      }
    }
    return out;
  } catch (const protozero::exception&) {
    return {};
  }
}

result<model_answer> answer_in_message(protocol speaks, std::string_view message, std::size_t count) {
  try {
    // One more than is of use shows that there are too many.
    const std::size_t most = count + 1;
    auto out = speaks == protocol::v2 ? infer_response(message, most) : predict_response(message, most);
    if (out.has_error()) return out;
    if (out->watts.size() > count)
      return error{errc::protocol, fmt::format("the answer has more than {0} values for {0} loads", count)};
    if (out->watts.size() < count)
      return error{errc::unsupported,
                   fmt::format("the answer has {} values for {} loads", out->watts.size(), count)};
    for (const double one : out->watts) {
      if (!std::isfinite(one)) return error{errc::invalid_input, "the model says NaN or Infinity"};
    }
    return out;
  } catch (const protozero::exception&) {
    return no_message();
  }
}

}  // namespace binnacle::model_servers
