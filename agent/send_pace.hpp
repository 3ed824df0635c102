#pragma once

#include "agent/send_budget.hpp"
#include "common/wire/messages.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace binnacle::agent {

/// Which series wait for how many of their periods before they are sent, over all links of the agent: the
/// budget, and what policies watch. Pure.
class send_pace {
 public:
  explicit send_pace(double bytes_per_second = 0) : budget_(bytes_per_second) {}

  /// What the aggregator behind `link` watches; replaces what it did before. A lost link's wishes stay until
  /// it is back.
  void set_interest(std::size_t link, const wire::interest& wanted) {
    auto& own = by_link_[link];
    own.clear();
    for (const auto& w : wanted.wishes) own.insert(w.family);
    if (budget_.others_wait() > 0) ++version_;
  }
  bool watched(std::string_view family) const {
    return std::ranges::any_of(by_link_, [&](const auto& link) { return link.second.contains(family); });
  }

  void sent(std::size_t watched, std::size_t others) noexcept { budget_.sent(watched, others); }
  /// True if version() was raised.
  bool review(instant now) noexcept {
    if (!budget_.review(now)) return false;
    ++version_;
    return true;
  }

  int doublings(bool of_watched) const noexcept {
    return of_watched ? budget_.watched_wait() : budget_.others_wait();
  }
  const send_budget& budget() const noexcept { return budget_; }
  /// Raised when a series may wait for another number of periods than before: announce the catalogue again.
  std::uint32_t version() const noexcept { return version_; }

 private:
  send_budget budget_;
  std::map<std::size_t, std::set<std::string, std::less<>>> by_link_;
  std::uint32_t version_ = 0;
};

}  // namespace binnacle::agent
