// Fair shares of the readings that the ingest loop can take.
//
// Policies make agents read more often: each rule on a RAPL metric wishes for a reading every 200 ms, at
// every node. A tenant could so fill the loop that all depend on. Wishes are therefore served as processor
// time is in a fair scheduler, by max-min fairness:
//
//   1. Each namespace is a party, and callers of the metrics API are one. A family that a party wishes for
//      twice counts once, at the shorter period.
//   2. The budget (readings a second of one node) is divided evenly. A party that wishes for less gets all
//      of it, and what it leaves is divided among the others. So nobody gains by splitting one policy into
//      ten, and nobody loses because somebody else wishes for more.
//   3. A party above its share is slowed in all its families by one factor. It is never cut off: a value
//      every ten seconds still decides (slowest_wish).
//   4. A family of several parties is read at the shortest period that any of them is granted, and counts
//      at each of them. What two parties share costs the loop once, so the sum of the shares is an upper
//      bound.
//
// No wish says what a reading costs, since that depends on the machine. So reading_budget measures: it
// starts without a limit, cuts in proportion when the loop was busy in two measurements running (a fleet
// that comes back makes one measurement busy, and is no reason), and grants a quarter more each time that
// there is room. Periods are rounded up to 10 ms, so that small changes of the budget send no new interest
// to the agents.

#include "aggregator/core/reading_shares.hpp"

#include "common/wire/limits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace binnacle::aggregator {
namespace {

using std::chrono::milliseconds;

using periods = std::map<std::string_view, milliseconds>;  // by family

void keep_shortest(periods& of, std::string_view family, milliseconds period) {
  const auto [at, fresh] = of.emplace(family, period);
  if (!fresh) at->second = std::min(at->second, period);
}

double a_second(milliseconds period) { return 1000.0 / static_cast<double>(period.count()); }

double a_second(const periods& all) {
  double sum = 0;
  for (const auto& [family, period] : all) sum += a_second(period);
  return sum;
}

/// The readings a second that a party gets at most: a party that wishes for less gets its whole wish.
/// Infinite if the budget is enough for all.
double fair_share(std::vector<double> wished, double budget) {
  std::ranges::sort(wished);
  double left = budget;
  for (std::size_t i = 0; i < wished.size(); ++i) {
    const double share = left / static_cast<double>(wished.size() - i);
    if (wished[i] > share) return share;
    left -= wished[i];
  }
  return std::numeric_limits<double>::infinity();
}

/// `part` of a wish, in steps of 10 ms so that small changes of the budget change nothing.
milliseconds slowed(milliseconds period, double part) {
  constexpr double step = 10;
  const double longer = std::ceil(static_cast<double>(period.count()) / part / step) * step;
  if (longer >= static_cast<double>(slowest_wish.count())) return std::max(period, slowest_wish);
  return milliseconds(static_cast<std::int64_t>(longer));
}

constexpr std::size_t most_named = 3;

}  // namespace

double reading_shares::wished() const {
  double sum = 0;
  for (const line& l : parties) sum += l.wished;
  return sum;
}

double reading_shares::granted() const {
  double sum = 0;
  for (const line& l : parties) sum += l.granted;
  return sum;
}

reading_shares share_readings(std::span<const owned_wish> wishes, double budget) {
  std::map<std::string_view, periods> parties;
  for (const owned_wish& w : wishes) {
    for (const std::string_view party : w.parties) keep_shortest(parties[party], w.family, w.period);
  }
  std::vector<double> wished;
  for (const auto& [party, all] : parties) wished.push_back(a_second(all));
  const double share = fair_share(wished, budget);

  reading_shares out;
  struct granted_family {
    milliseconds period{};
    std::size_t rank = 0;  // in the list of the party where it stands first
  };
  std::map<std::string_view, granted_family> families;
  for (auto& [party, all] : parties) {
    const double wanted = a_second(all);
    std::size_t rank = 0;
    for (auto& [family, period] : all) {
      if (wanted > share) period = slowed(period, share / wanted);
      const auto [at, fresh] = families.emplace(family, granted_family{period, rank});
      at->second.period = std::min(at->second.period, period);
      at->second.rank = std::min(at->second.rank, rank);
      ++rank;
    }
    out.parties.push_back({std::string(party), wanted, a_second(all)});
  }

  std::vector<std::pair<std::size_t, std::string_view>> in;
  for (const auto& [family, granted] : families) in.emplace_back(granted.rank, family);
  if (in.size() > wire::max_wishes) {
    std::ranges::sort(in);
    out.left_out = in.size() - wire::max_wishes;
    in.resize(wire::max_wishes);
    std::ranges::sort(in, {}, [](const auto& one) { return one.second; });
  }
  for (const auto& [rank, family] : in)
    out.interest.wishes.push_back(
        {std::string(family), static_cast<std::uint32_t>(families[family].period.count())});
  return out;
}

std::vector<std::string> reading_warnings(const reading_shares& now) {
  std::vector<std::string> out;
  std::vector<std::string> slowed;
  std::size_t more = 0;
  for (const reading_shares::line& l : now.parties) {
    if (l.granted >= l.wished) continue;
    if (slowed.size() == most_named) {
      ++more;
      continue;
    }
    slowed.push_back(fmt::format("{} {:.3g} of {:.3g}",
                                 l.party.empty() ? "callers of the metrics API get"
                                                 : fmt::format("policies of namespace {} get", l.party),
                                 l.granted, l.wished));
  }
  if (!slowed.empty())
    out.push_back(fmt::format(
        "metrics are read less often than policies wish, because the ingest loop was {:.0f} % busy: of each "
        "node, {} readings a second{}; watch fewer metrics, or give the aggregator a faster CPU",
        now.load * 100, fmt::join(slowed, ", "), more > 0 ? fmt::format(" (and {} others)", more) : ""));
  if (now.left_out > 0)
    out.push_back(fmt::format(
        "policies watch {} metric families more than fit into the message to agents ({}): agents read "
        "those at their own pace; watch fewer metrics",
        now.left_out, wire::max_wishes));
  return out;
}

void reading_budget::measured(double load, double wished, double granted) noexcept {
  busy_times_ = load > busy ? busy_times_ + 1 : 0;
  // Where nothing is granted there is nothing to cut, and a budget of 0 would never grow again.
  if (busy_times_ >= 2 && granted > 0) {
    // From `granted` and not from the old budget: more than the budget is granted if wishes are at their
    // slowest.
    most_ = granted * aim / load;
  } else if (load < aim && !std::isinf(most_)) {
    most_ *= 1.25;
    if (most_ >= wished) most_ = std::numeric_limits<double>::infinity();
  }
}

}  // namespace binnacle::aggregator
