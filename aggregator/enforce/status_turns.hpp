#pragma once

#include "aggregator/kube/objects/reflector.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace binnacle::enforce {

/// Whose status is written next, of the policies whose status has changed. Namespaces take turns, so that
/// policies of one namespace that change all the time keep no status of another namespace waiting. Within a
/// namespace the policy that somebody has just edited comes first, then the one that has waited longest.
/// Pure.
class status_turns {
 public:
  /// The policy's status has changed. `edited`: because somebody has changed the policy, and waits to see it.
  void wants(const kube::object_key& policy, bool edited) {
    std::deque<std::string>& line = lines_[policy.name_space];
    const auto at = std::ranges::find(line, policy.name);
    if (at != line.end()) {
      if (!edited) return;
      line.erase(at);
    }
    line.insert(edited ? line.begin() : line.end(), policy.name);
  }
  bool empty() const noexcept { return lines_.empty(); }
  /// The policy that has its turn now. It waits no longer.
  std::optional<kube::object_key> next() {
    if (lines_.empty()) return std::nullopt;
    auto at = lines_.upper_bound(last_);
    if (at == lines_.end()) at = lines_.begin();
    last_ = at->first;
    const kube::object_key out{at->first, at->second.front()};
    at->second.pop_front();
    if (at->second.empty()) lines_.erase(at);
    return out;
  }

 private:
  std::map<std::string, std::deque<std::string>> lines_;  // names by namespace; none is empty
  std::string last_;                                      // the namespace that had the last turn
};

}  // namespace binnacle::enforce
