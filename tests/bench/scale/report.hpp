#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace binnacle::bench {

/// Milliseconds of many calls.
class latencies {
 public:
  void add(double ms) {
    all_.push_back(ms);
    sorted_ = false;
  }
  std::size_t count() const noexcept { return all_.size(); }
  /// The value that `share` of the calls stay below (nearest rank).
  double quantile(double share) {
    if (all_.empty()) return 0;
    if (!sorted_) std::sort(all_.begin(), all_.end());
    sorted_ = true;
    const auto rank = static_cast<std::size_t>(share * static_cast<double>(all_.size()));
    return all_[std::min(rank, all_.size() - 1)];
  }

 private:
  std::vector<double> all_;
  bool sorted_ = false;
};

/// Prints figures as they come, with their targets; remembers how many were missed.
class report {
 public:
  void heading(const std::string& text);
  void figure(const std::string& what, double value, const std::string& unit);
  /// Prints one figure. It meets `target` if it is not above it; with `at_least`, if it is not below it.
  void figure(const std::string& what, double value, const std::string& unit, double target,
              bool at_least = false);
  int missed() const noexcept { return missed_; }

 private:
  int missed_ = 0;
};

}  // namespace binnacle::bench
