#pragma once

#include "aggregator/exporter/cursor.hpp"
#include "common/metrics/family.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace binnacle::exporter {

/// The body of one request of Prometheus remote write 1.0: a WriteRequest in protocol buffers, compressed by
/// snappy's block format. Source: prometheus.io/docs/concepts/remote_write_spec.
class write_request {
 public:
  /// `outside`: labels that every series gets (`cluster`, `replica`).
  explicit write_request(metrics::label_set outside) : outside_(std::move(outside)) {}

  /// A series with one sample. Its labels are the series' own, `node`, and the outside ones, sorted as the
  /// protocol wants. `at_ms`: milliseconds since 1970.
  void add(const point& p, std::int64_t at_ms);

  std::size_t samples() const noexcept { return samples_; }
  std::size_t bytes() const noexcept { return body_.size(); }  ///< before compression
  /// The compressed body; it is empty again afterwards.
  std::string take();

 private:
  metrics::label_set outside_;
  std::string body_;
  std::string series_;  // kept for its memory
  std::size_t samples_ = 0;
};

}  // namespace binnacle::exporter
