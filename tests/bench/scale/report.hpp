#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace binnacle::bench {

/// Milliseconds of many calls.
class latencies {
 public:
  void add(double ms) { all_.push_back(ms); }
  std::size_t count() const noexcept { return all_.size(); }
  /// The value that `share` of the calls stay below (nearest rank).
  double quantile(double share) {
    if (all_.empty()) return 0;
    std::sort(all_.begin(), all_.end());
    const auto rank = static_cast<std::size_t>(share * static_cast<double>(all_.size()));
    return all_[std::min(rank, all_.size() - 1)];
  }

 private:
  std::vector<double> all_;
};

/// One line of the report: a figure, its target, and whether it was met.
void figure(const std::string& what, double value, const std::string& unit, double target, bool less_is_better = true);
/// A figure without a target.
void figure(const std::string& what, double value, const std::string& unit);
void heading(const std::string& text);
/// True when every figure with a target met it.
bool all_met();

}  // namespace binnacle::bench
