#include "aggregator/sender/dialect.hpp"

#include "aggregator/sender/otlp_answer.hpp"
#include "aggregator/sender/otlp_request.hpp"
#include "aggregator/sender/write_request.hpp"
#include "aggregator/sender/write_request_2.hpp"

namespace binnacle::sender {

namespace {

template <class Request>
std::unique_ptr<encoder> encoder_of(const origin& from) {
  return std::make_unique<Request>(from);
}

}  // namespace

const dialect& dialect_of(protocol p) noexcept {
  static const dialect remote_write_1{
      .setting = "remote-write",
      .called = "remote write",
      .version = "1.0",
      .example = "https://prometheus.example:9090/api/v1/write",
      .headers = {{"Content-Type", "application/x-protobuf"},
                  {"Content-Encoding", "snappy"},
                  {"X-Prometheus-Remote-Write-Version", "0.1.0"}},
      .encode = encoder_of<write_request>,
      .outcome_of = remote_write_outcome,
      .in_halves = halves_of_version_1,
  };
  static const dialect remote_write_2{
      .setting = "remote-write",
      .called = "remote write",
      .version = "2.0",
      .example = remote_write_1.example,
      .headers = {{"Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request"},
                  {"Content-Encoding", "snappy"},
                  {"X-Prometheus-Remote-Write-Version", "2.0.0"}},
      .encode = encoder_of<write_request_2>,
      .outcome_of = remote_write_2_outcome,
      .in_halves = halves_of_version_2,
      .older = &remote_write_1,
      .in_older = as_version_1,
      .sign_in = sign_of_version_2,
  };
  static const dialect otlp{
      .setting = "otlp",
      .called = "OTLP",
      .version = "1",
      .example = "https://collector.example:4318/v1/metrics",
      .headers = {{"Content-Type", "application/x-protobuf"}, {"Content-Encoding", "gzip"}},
      .encode = encoder_of<otlp_request>,
      .outcome_of = otlp_outcome,
      .in_halves = halves_of_otlp,
  };
  return p == protocol::otlp ? otlp : remote_write_2;
}

}  // namespace binnacle::sender
