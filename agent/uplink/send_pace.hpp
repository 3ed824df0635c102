#pragma once

#include "agent/sampling/interest.hpp"
#include "agent/uplink/send_budget.hpp"
#include "common/wire/messages.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace binnacle::agent {

/// Says for how many of its periods a series waits before it is sent, for all links of the agent. It depends
/// on the budget and on what policies watch. Pure.
class send_pace {
 public:
  explicit send_pace(double bytes_per_second = 0) : budget_(bytes_per_second) {}

  /// What the aggregator behind `link` watches. Replaces what it watched before.
  void set_interest(std::size_t link, const wire::interest& wanted) {
    wishes_.set(link, wanted);
    wishes_changed();
  }
  /// The link is lost. Its wishes stay for interest_book::grace, as they do for the sources.
  void lost(std::size_t link, instant now) { wishes_.lost(link, now); }
  bool watched(std::string_view family) const { return watched_.contains(family); }

  void sent(std::size_t watched, std::size_t others) noexcept { budget_.sent(watched, others); }
  /// Applies the budget and expires wishes. True if version() was raised.
  bool review(instant now) {
    const auto before = version_;
    if (wishes_.expire(now)) wishes_changed();
    if (budget_.review(now)) ++version_;
    return version_ != before;
  }

  int doublings(bool of_watched) const noexcept {
    return of_watched ? budget_.watched_wait() : budget_.others_wait();
  }
  const send_budget& budget() const noexcept { return budget_; }
  /// Raised when series may have another number of periods to wait. The catalog must then be announced
  /// again.
  std::uint32_t version() const noexcept { return version_; }

 private:
  void wishes_changed() {
    watched_.clear();
    const auto all = wishes_.wanted();
    for (const auto& w : all.wishes) watched_.insert(w.family);
    if (budget_.others_wait() > 0) ++version_;
  }

  send_budget budget_;
  interest_book wishes_;
  std::set<std::string, std::less<>> watched_;
  std::uint32_t version_ = 0;
};

}  // namespace binnacle::agent
