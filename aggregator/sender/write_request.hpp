#pragma once

#include "aggregator/sender/halves.hpp"
#include "aggregator/sender/series_labels.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace binnacle::sender {

/// The body of one request of Prometheus remote write 1.0: a WriteRequest in protocol buffers, compressed by
/// snappy's block format. Source: prometheus.io/docs/concepts/remote_write_spec.
class write_request final : public encoder {
 public:
  /// `from` becomes the labels `cluster` and `replica`.
  explicit write_request(const origin& from) : outside_(outside_labels(from)) {}

  /// A series with one sample. The time is sent in milliseconds.
  void add(const point& p, std::int64_t at_ns) override;

  std::size_t samples() const noexcept override { return samples_; }
  std::size_t bytes() const noexcept override { return body_.size(); }
  std::string take() override;

 private:
  const metrics::label_set outside_;
  std::string body_;
  std::string series_;  // kept for its memory
  std::size_t samples_ = 0;
};

/// Such a request in two. `body` comes from this process, so it is trusted.
halves halves_of_version_1(const std::string& body);

}  // namespace binnacle::sender
