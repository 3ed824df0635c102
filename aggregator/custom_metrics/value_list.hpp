#pragma once

#include "aggregator/custom_metrics/path.hpp"
#include "common/clock.hpp"
#include "common/decimal.hpp"
#include "common/http/text_pieces.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::custom_metrics {

/// Writes a MetricValueList of metrics of nodes, or of the pods of one namespace, in the shape of v1beta1 or
/// v1beta2, straight into text: a list of 5,000 nodes must not hold up the scheduler's calls on the same
/// loop.
class value_list {
 public:
  /// `selector_json`: the LabelSelector object, or "null". Memory is reserved for `expected` items, at
  /// most for one piece. An empty `name_space` means nodes.
  value_list(version api, std::string_view metric, std::string_view selector_json, std::size_t expected,
             std::string_view name_space = {});

  /// `read_at` is written in whole seconds. A `span` of zero leaves the window out; one shorter than a second
  /// is written as one second.
  void add(std::string_view name, decimal value, std::chrono::system_clock::time_point read_at,
           duration span);

  /// The bytes of the list so far.
  std::size_t bytes() const noexcept { return pieces_.bytes(); }
  std::vector<std::string> take();

 private:
  void set_second(std::int64_t second);

  version api_;
  http::text_pieces pieces_;
  std::string kind_part_;      // what comes before the object's name
  std::string metric_part_;    // what follows the object's name up to the timestamp
  std::string selector_part_;  // v1beta1's "selector":…
  std::int64_t second_ = INT64_MIN;
  std::string timestamp_;  // text of second_; many neighbours share it
  bool first_ = true;
};

}  // namespace binnacle::custom_metrics
