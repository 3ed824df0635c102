#pragma once

#include "aggregator/sender/halves.hpp"
#include "aggregator/sender/series_labels.hpp"
#include "common/keyed_hash.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace binnacle::sender {

/// The body of one request of Prometheus remote write 2.0: an io.prometheus.write.v2.Request in protocol
/// buffers, compressed by snappy's block format. Every text stands once in a request, and a series has its
/// type, unit and meaning with it. Source: prometheus.io/docs/specs/prw/remote_write_spec_2_0.
class write_request_2 final : public encoder {
 public:
  /// As write_request's.
  explicit write_request_2(const origin& from);
  void add(const point& p, std::int64_t at_ns) override;

  std::size_t samples() const noexcept override { return samples_; }
  std::size_t bytes() const noexcept override { return symbols_.size() + series_.size(); }
  std::string take() override;

 private:
  std::uint32_t symbol(std::string_view text);

  const metrics::label_set outside_;
  std::unordered_map<std::string, std::uint32_t, keyed_hash> places_;  // of the texts in the list of symbols
  std::string symbols_;                                                // the request's two lists, encoded
  std::string series_;
  std::size_t samples_ = 0;
};

/// The same request in remote write 1.0, which has no place for types and meanings. `body` comes from
/// write_request_2::take() in this process, so it is trusted.
std::string as_version_1(const std::string& body);

/// Such a request in two, trusted likewise. Each half keeps the whole list of texts.
halves halves_of_version_2(const std::string& body);

}  // namespace binnacle::sender
