#pragma once

#include "aggregator/sender/encoder.hpp"
#include "aggregator/sender/halves.hpp"
#include "common/metrics/family.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::sender {

/// The body of one OTLP request for /v1/metrics: an ExportMetricsServiceRequest in protocol buffers, in gzip.
/// Each node is a resource. Its hardware has OpenTelemetry's names (common/metrics/hardware_name.hpp),
/// everything else ours; a series' labels are attributes of its points. Counters are cumulative sums whose
/// start is not known. Source: opentelemetry-proto, metrics/v1/metrics.proto.
class otlp_request final : public encoder {
 public:
  explicit otlp_request(origin from) : from_(std::move(from)) {}

  /// Add the points of a node together: a new resource begins each time the node changes. The end of a series
  /// (stale_marker()) becomes a point without a recorded value.
  void add(const point& p, std::int64_t at_ns) override;

  std::size_t samples() const noexcept override { return samples_; }
  std::size_t bytes() const noexcept override { return body_.size() + open_bytes_; }
  std::string take() override;

 private:
  struct metric {
    std::string description;
    std::string_view unit;
    bool sum = false;
    std::string points;
  };
  metric& open_metric(std::string_view name, std::string_view description, std::string_view unit, bool sum);
  void close_node();

  const origin from_;
  std::string body_;
  std::string node_;                                    // the node whose points are being collected
  std::string uid_;                                     // that node's
  std::map<std::string, metric, std::less<>> metrics_;  // by name
  std::size_t open_bytes_ = 0;
  std::size_t samples_ = 0;
};

/// Such a request in two. `body` comes from this process, so it is trusted.
halves halves_of_otlp(const std::string& body);

}  // namespace binnacle::sender
