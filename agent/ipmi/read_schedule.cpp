#include "agent/ipmi/read_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace binnacle::ipmi {
namespace {

constexpr double newest_weight = 0.2;    // weight of the newest reading in the moving mean of costs
constexpr double outlier = 10;           // a longer reading counts as this many times the mean
constexpr double assumed_cost_ns = 5e6;  // cost of a sensor before its first reading; BMCs take 1 to 50 ms
constexpr double longest_run_ns = 10e6;  // time of short readings in a row without a pause
constexpr double kept_for_the_rest = 0.25;
constexpr int most_without_value = 3;  // in a row; then the sensor is read less often
constexpr auto least_absent_period = std::chrono::seconds(10);
constexpr int most_unanswered = 10;  // more in a row do not make the pause longer than 512 s

duration rounded_up(double ns) {
  constexpr double ms = 1e6;
  constexpr double most = 3.6e12;  // an hour
  return duration(static_cast<std::int64_t>(std::ceil(std::min(ns, most) / ms) * ms));
}

}  // namespace

void read_schedule::set(const std::vector<wish>& wishes, double budget_ratio, instant now) {
  std::map<std::string, item> all;
  for (const auto& w : wishes) {
    auto known = items_.find(w.key);
    auto& i = all[w.key];
    if (known != items_.end()) {
      i = known->second;
    } else {
      i.due = now;
    }
    i.wanted = std::max<duration>(w.period, std::chrono::milliseconds(1));
    i.waited_for = w.waited_for;
  }
  items_ = std::move(all);
  budget_ = budget_ratio;
  stretch();
  // A shorter period takes effect at once. It does not wait for the turn that the longer period had set.
  for (auto& [key, i] : items_) i.due = std::min(i.due, now + i.period);
}

void read_schedule::stretch() {
  const auto wanted = [](const item& i) {
    return i.without_value < most_without_value ? i.wanted
                                                : std::max<duration>(i.wanted, least_absent_period);
  };
  // Once may be a failure of the whole BMC. No budget makes this pause longer.
  const auto pause = [](const item& i) {
    return i.unanswered > 1 ? duration(std::chrono::seconds(1 << (i.unanswered - 1))) : duration::zero();
  };
  double waited_for = 0, rest = 0;  // shares of the BMC's time that both kinds of sensors want
  for (const auto& [key, i] : items_) {
    (i.waited_for ? waited_for : rest) +=
        i.cost_ns.value_or(assumed_cost_ns) / static_cast<double>(std::max(wanted(i), pause(i)).count());
  }
  const double rest_share = std::min(rest, std::max(kept_for_the_rest * rate(), rate() - waited_for));
  const double waited_for_share = rate() - rest_share;
  for (auto& [key, i] : items_) {
    const double factor = i.waited_for ? std::max(1.0, waited_for / waited_for_share)
                          : rest > 0   ? std::max(1.0, rest / rest_share)
                                       : 1.0;
    i.period = std::max(rounded_up(static_cast<double>(wanted(i).count()) * factor), pause(i));
  }
}

std::optional<read_schedule::turn> read_schedule::next() const {
  const auto first = std::min_element(
      items_.begin(), items_.end(), [](const auto& a, const auto& b) { return a.second.due < b.second.due; });
  if (first == items_.end()) return std::nullopt;
  return turn{first->first, std::max(first->second.due, free_at_)};
}

void read_schedule::done(const std::string& key, instant started, instant ended, bool has_value) {
  const auto it = items_.find(key);
  if (it == items_.end()) return spent(started, ended);
  auto& i = it->second;
  const auto took = static_cast<double>((ended - started).count());
  charge(started, ended, std::min(took, i.cost_ns.value_or(took)));
  // A single slow reading moves the mean only a little. If the reading before was slow as well, the BMC is
  // slow, and the whole time counts.
  const auto counted = std::min(took, std::max(outlier * i.cost_ns.value_or(took), last_took_ns_));
  last_took_ns_ = took;
  i.cost_ns = i.cost_ns ? *i.cost_ns + newest_weight * (counted - *i.cost_ns) : took;
  i.without_value = has_value ? 0 : std::min(i.without_value + 1, most_without_value);
  i.unanswered = 0;
  stretch();
  // Stay on the multiples of the period, and leave out turns that went by.
  i.due += i.period;
  if (i.due < ended) i.due = ended;
}

void read_schedule::unanswered(const std::string& key, instant ended) {
  const auto it = items_.find(key);
  if (it == items_.end()) return;
  auto& i = it->second;
  i.unanswered = std::min(i.unanswered + 1, most_unanswered);
  stretch();
  i.due = ended + i.period;
}

void read_schedule::spent(instant started, instant ended) { charge(started, ended, 0); }

void read_schedule::charge(instant started, instant ended, double pause_for_ns) {
  const auto took = ended - started;
  auto credit = most_credit_ns();
  if (credit_ns_)
    credit = std::min(credit, *credit_ns_ + rate() * static_cast<double>((started - credited_at_).count()));
  credit -= static_cast<double>(took.count());
  credit_ns_ = credit;
  credited_at_ = started;  // the time that the reading itself took earns credit, too
  const auto rest_for = [&](double ns) { return duration(static_cast<std::int64_t>(ns * (1 / rate() - 1))); };
  rested_at_ = std::max(rested_at_, ended) + rest_for(pause_for_ns);
  if (rested_at_ - ended >= rest_for(longest_run_ns)) free_at_ = std::max(free_at_, rested_at_);
  if (credit < 0)
    free_at_ = std::max(free_at_, ended + duration(static_cast<std::int64_t>(-credit / rate())));

  if (!first_) {
    first_ = started;
    newest_slot_ = ended.time_since_epoch() / slot;
  }
  const std::int64_t now = ended.time_since_epoch() / slot;
  for (; newest_slot_ < now; ++newest_slot_) {
    if (now - newest_slot_ > static_cast<std::int64_t>(slots))
      newest_slot_ = now - static_cast<std::int64_t>(slots);
    busy_[static_cast<std::size_t>(newest_slot_ + 1) % slots] = duration::zero();
  }
  busy_[static_cast<std::size_t>(now) % slots] += took;
}

std::map<std::string, std::uint32_t> read_schedule::periods_ms() const {
  std::map<std::string, std::uint32_t> all;
  for (const auto& [key, i] : items_) {
    all[key] = static_cast<std::uint32_t>(i.period / std::chrono::milliseconds(1));
  }
  return all;
}

bool read_schedule::differs_from(const std::map<std::string, std::uint32_t>& told) const {
  if (told.size() != items_.size()) return true;
  return std::any_of(items_.begin(), items_.end(), [&told](const auto& i) {
    const auto before = told.find(i.first);
    if (before == told.end()) return true;
    const auto now = static_cast<double>(i.second.period / std::chrono::milliseconds(1));
    return std::abs(now - before->second) > 0.2 * before->second;
  });
}

double read_schedule::busy_ratio(instant now) const {
  if (!first_) return 0;
  const std::int64_t present = now.time_since_epoch() / slot;
  duration busy{};
  for (std::int64_t s = std::max<std::int64_t>(0, present - static_cast<std::int64_t>(slots) + 1);
       s <= present; ++s) {
    if (s <= newest_slot_ && newest_slot_ - s < static_cast<std::int64_t>(slots)) {
      busy += busy_[static_cast<std::size_t>(s) % slots];
    }
  }
  const auto begin = std::max(*first_, instant((present - static_cast<std::int64_t>(slots) + 1) * slot));
  const auto over = std::max<duration>(now - begin, std::chrono::seconds(1));
  return static_cast<double>(busy.count()) / static_cast<double>(over.count());
}

}  // namespace binnacle::ipmi
