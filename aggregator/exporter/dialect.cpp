#include "aggregator/exporter/dialect.hpp"

#include "aggregator/exporter/otlp_answer.hpp"
#include "aggregator/exporter/otlp_request.hpp"
#include "aggregator/exporter/write_request.hpp"

namespace binnacle::exporter {

const dialect& dialect_of(protocol p) noexcept {
  static const dialect remote_write{
      "remote-write",
      "remote write",
      "https://prometheus.example:9090/api/v1/write",
      {{"Content-Type", "application/x-protobuf"},
       {"Content-Encoding", "snappy"},
       {"X-Prometheus-Remote-Write-Version", "0.1.0"}},
      [](const origin& from) -> std::unique_ptr<encoder> { return std::make_unique<write_request>(from); },
      judge_answer};
  static const dialect otlp{
      "otlp",
      "OTLP",
      "https://collector.example:4318/v1/metrics",
      {{"Content-Type", "application/x-protobuf"}, {"Content-Encoding", "gzip"}},
      [](const origin& from) -> std::unique_ptr<encoder> { return std::make_unique<otlp_request>(from); },
      judge_otlp_answer};
  return p == protocol::otlp ? otlp : remote_write;
}

}  // namespace binnacle::exporter
