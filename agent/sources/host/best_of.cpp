#include "agent/sources/host/best_of.hpp"

#include <algorithm>

namespace binnacle::agent {

bool best_of::is_patient(instant now) const noexcept {
  return !began_ && now - first_asked_.value_or(now) < patience_;
}

unsigned best_of::least_reach(std::span<const contender> all, instant now) {
  if (!first_asked_) first_asked_ = now;
  auto least = reach_;
  if (began_) return least;
  const bool patient = is_patient(now);
  for (const auto& c : all)
    if (c.settles || c.in_doubt || (c.awaited && patient)) least = std::max(least, c.reach);
  return least;
}

std::optional<std::size_t> best_of::choose(std::span<const contender> all, instant now) {
  there_since_.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].value) {
      there_since_[i].reset();
    } else if (!there_since_[i]) {
      there_since_[i] = now;
    }
  }
  if (present_ && !all[*present_].value && (now >= kept_until_ || all[*present_].set_aside)) present_.reset();
  const auto least = least_reach(all, now);
  waits_ = false;
  // If no way is used now, take the best one with a value. Otherwise take only a better one that has had a
  // value for its stale-after.
  for (std::size_t i = 0; i < present_.value_or(all.size()); ++i) {
    if (!all[i].value) continue;
    if (all[i].reach < least) {
      waits_ = !began_;
      continue;
    }
    if (all[i].in_doubt) continue;
    if (present_ && now - *there_since_[i] < all[i].stale_after) continue;
    present_ = i;
    reach_ = all[i].reach;
    began_ = true;
    break;
  }
  if (present_ && all[*present_].value) kept_until_ = all[*present_].read_at + all[*present_].stale_after;
  return present_;
}

}  // namespace binnacle::agent
