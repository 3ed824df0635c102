#include "agent/sampling/interest.hpp"

#include <algorithm>

namespace binnacle::agent {

namespace {

void keep_shortest(std::map<std::string, std::uint32_t>& periods_ms, const std::string& family,
                   std::uint32_t ms) {
  const auto [at, fresh] = periods_ms.emplace(family, ms);
  if (!fresh) at->second = std::min(at->second, ms);
}

}  // namespace

void interest_book::set(std::size_t link, const wire::interest& wanted) {
  wishes now;
  for (const auto& w : wanted.wishes) {
    if (w.period_ms > 0) keep_shortest(now.periods_ms, w.family, w.period_ms);
  }
  if (now.periods_ms.empty()) {
    by_link_.erase(link);
  } else {
    by_link_[link] = std::move(now);
  }
}

void interest_book::lost(std::size_t link, instant now) {
  const auto at = by_link_.find(link);
  if (at != by_link_.end()) at->second.until = std::min(at->second.until, now + grace);
}

bool interest_book::expire(instant now) {
  return std::erase_if(by_link_, [now](const auto& l) { return now >= l.second.until; }) > 0;
}

instant interest_book::next_deadline() const noexcept {
  auto next = instant::max();
  for (const auto& [link, w] : by_link_) next = std::min(next, w.until);
  return next;
}

wire::interest interest_book::wanted() const {
  std::map<std::string, std::uint32_t> all;
  for (const auto& [link, w] : by_link_) {
    for (const auto& [family, ms] : w.periods_ms) keep_shortest(all, family, ms);
  }
  wire::interest out;
  for (const auto& [family, ms] : all) out.wishes.push_back({family, ms});
  return out;
}

}  // namespace binnacle::agent
