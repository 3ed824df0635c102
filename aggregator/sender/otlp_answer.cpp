#include "aggregator/sender/otlp_answer.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <string>

namespace binnacle::sender {
namespace {

constexpr std::array<unsigned, 4> put_off{429, 502, 503, 504};

bool is_protobuf(const http::answer& a) {
  const std::string* type = a.header("content-type");
  return type != nullptr && type->starts_with("application/x-protobuf");
}

/// A string field of an untrusted message; empty if the field is missing or the bytes are no such message.
std::string text_field(protozero::pbf_reader message, protozero::pbf_tag_type field) {
  std::string out;
  while (message.next()) {
    if (message.tag() == field && message.wire_type() == protozero::pbf_wire_type::length_delimited) {
      out = message.get_string();
    } else {
      message.skip();
    }
  }
  return out;
}

struct partial_success {
  std::uint64_t rejected = 0;
  std::string why;
};

/// Reads the partial success in an ExportMetricsServiceResponse (collector/metrics/v1). None if everything
/// was taken, or if the answer cannot be read, which is no reason to send the points again.
std::optional<partial_success> read_partial_success(const http::answer& a) {
  constexpr protozero::pbf_tag_type partial = 1, rejected_points = 1, error_message = 2;
  if (!is_protobuf(a)) return std::nullopt;
  try {
    std::optional<partial_success> out;
    protozero::pbf_reader response(a.body);
    while (response.next(partial, protozero::pbf_wire_type::length_delimited)) {
      protozero::pbf_reader message = response.get_message();
      out.emplace().why = text_field(message, error_message);
      while (message.next(rejected_points, protozero::pbf_wire_type::varint))
        out->rejected = static_cast<std::uint64_t>(std::max<std::int64_t>(0, message.get_int64()));
    }
    return out;
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
}

/// The reason of a refusal: the message of a google.rpc.Status, or plain text.
std::string reason_in(const http::answer& a) {
  constexpr protozero::pbf_tag_type status_message = 2;
  if (!is_protobuf(a)) return a.body;
  try {
    return text_field(protozero::pbf_reader(a.body), status_message);
  } catch (const protozero::exception&) {
    return {};
  }
}

std::string_view otlp_remedy_of(unsigned status) {
  switch (status) {
    case 400: return "its log says what it cannot read";
    case 401:
    case 403: return "give --otlp-token, --otlp-user or --otlp-cert that it accepts";
    case 404:
      return "look at the path: a collector takes /v1/metrics, Prometheus /api/v1/otlp/v1/metrics with "
             "--web.enable-otlp-receiver";
    case 413: return "raise the server's limit of a request's size to 8 MiB";
    case 415: return "it does not take OTLP in protocol buffers over HTTP";
    default: return "look at its log";
  }
}

}  // namespace

outcome otlp_outcome(const result<http::answer>& answer, std::uint64_t samples) {
  if (answer.has_error()) return {outcome::kind::later, {}, answer.error().message};
  const unsigned status = answer->status;
  if (status / 100 == 2) {
    outcome out;
    const auto partial = read_partial_success(*answer);
    if (!partial || (partial->rejected == 0 && partial->why.empty())) return out;
    out.left_out = std::min(partial->rejected, samples);
    out.why = partial->rejected == 0 ? "the server takes readings but warns" + in_brackets(partial->why)
                                     : "the server leaves out some readings" + in_brackets(partial->why) +
                                           ": its log says which";
    return out;
  }
  return not_taken(*answer, std::ranges::find(put_off, status) != put_off.end(), samples, reason_in(*answer),
                   "readings", otlp_remedy_of(status));
}

}  // namespace binnacle::sender
