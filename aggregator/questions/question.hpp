#pragma once

#include "aggregator/questions/selector.hpp"
#include "aggregator/store/view.hpp"

#include <cstddef>
#include <functional>
#include <string_view>

namespace binnacle::questions {

/// A node's answer to a question: the number, and the span that it covers, ending when it was read.
struct reading {
  store::sample value;  ///< read_at is kept also when there is no value
  duration span{};      ///< an alias's window, else the sampling period; zero: not known
  /// Series that had to be looked at to find out what the metric means at the node; 0: that was known. It
  /// takes much longer than reading the values, so who asks many nodes counts it.
  std::size_t looked_at = 0;
};

/// A metric asked of one node after another. It may remember what it worked out for a shape; it lives for one
/// request.
using question = std::function<reading(const store::node_view& node, instant now)>;

/// Makes the question for `metric` (family, flat name or alias), over the series that `series` selects
/// (empty: those of the node rule).
using question_maker = std::function<question(std::string_view metric, const selector& series)>;

}  // namespace binnacle::questions
