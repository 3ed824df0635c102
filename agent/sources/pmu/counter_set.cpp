#include "agent/sources/pmu/counter_set.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace binnacle::agent {
namespace {

constexpr unsigned patience = 5;  // after this many reads without a turn a group counts as too large

bool is_descriptor_limit(int error_number) { return error_number == EMFILE || error_number == ENFILE; }

// True if the kernel refused the event because the group would need more counters than the PMU has.
bool is_too_large(int error_number) { return error_number == EINVAL || error_number == ENOSPC; }

}  // namespace

counter_set::counter_set(perf_opener open, int cgroup) : open_(std::move(open)), cgroup_(cgroup) {}

void counter_set::close() {
  groups_.clear();
  refused_.clear();
  descriptors_ = 0;
}

template <class Predicate>
void counter_set::close_if(Predicate which) {
  std::erase_if(groups_, [&](open_group& g) {
    if (!which(g)) return false;
    descriptors_ -= g.counters.size();
    return true;
  });
}

bool counter_set::has(std::size_t planned, unsigned cpu) const {
  return std::any_of(groups_.begin(), groups_.end(),
                     [&](const open_group& g) { return g.planned == planned && g.cpu == cpu; });
}

void counter_set::open(std::span<const planned_group> plan, std::span<const unsigned> online,
                       std::size_t most) {
  const auto is_online = [&](unsigned cpu) {
    return std::find(online.begin(), online.end(), cpu) != online.end();
  };
  close_if([&](const open_group& g) { return !is_online(g.cpu); });
  std::erase_if(refused_, [](const auto& r) { return is_descriptor_limit(r.second); });
  for (std::size_t number = 0; number < plan.size(); ++number) {
    const auto& planned = plan[number];
    for (const unsigned cpu : planned.cpus ? std::span<const unsigned>(*planned.cpus) : online) {
      if (!is_online(cpu) || has(number, cpu) || open_on(number, planned, cpu, most)) continue;
      close_if([&](const open_group& g) { return g.planned >= number; });
      for (const auto& rest : plan.subspan(number)) {
        for (const auto& member : rest.members) refused_.emplace(member.event, EMFILE);
      }
      return;
    }
  }
}

// Opens the group on one CPU. False if no more descriptors may be opened.
bool counter_set::open_on(std::size_t number, const planned_group& planned, unsigned cpu, std::size_t most) {
  std::vector<open_group> made;
  std::size_t added = 0;
  for (const auto& member : planned.members) {
    if (refused_.contains(member.event)) continue;
    if (descriptors_ + added >= most) return false;
    const perf_request wanted{.event = member.encoding, .cpu = cpu, .cgroup = cgroup_};
    int failed = made.empty() ? EINVAL : made.back().counters.add(open_, wanted);
    if (is_too_large(failed)) {
      open_group fresh{.planned = number, .cpu = cpu, .takes_turns = planned.takes_turns};
      failed = fresh.counters.add(open_, wanted);
      if (failed == 0) made.push_back(std::move(fresh));
    }
    if (is_descriptor_limit(failed)) return false;
    if (failed == ENODEV) return true;  // the CPU went offline a moment ago
    if (failed != 0) {
      refused_.emplace(member.event, failed);
      continue;
    }
    made.back().events.push_back(member.event);
    made.back().meters.emplace_back();
    ++added;
  }
  for (auto& g : made) groups_.push_back(std::move(g));
  descriptors_ += added;
  return true;
}

void counter_set::read(std::vector<count>& out) {
  out.clear();
  close_if([&](open_group& g) {
    const auto now = g.counters.read(buffer_);
    for (std::size_t i = 0; i < g.events.size(); ++i) {
      count c{.event = g.events[i], .cpu = g.cpu};
      if (!now) {
        c.reason = absence::missing;
        out.push_back(c);
        continue;
      }
      c.enabled_ns = now->enabled_ns - g.enabled_ns;
      c.running_ns = std::min(now->running_ns - g.running_ns, c.enabled_ns);
      if (const auto rise = g.meters[i].update(now->counts[i], now->enabled_ns, now->running_ns)) {
        c.rise = *rise;
      } else if (cgroup_ < 0 || c.enabled_ns > 0) {
        c.reason = absence::not_running;
      }
      out.push_back(c);
    }
    if (!now) return true;
    g.enabled_ns = now->enabled_ns;
    g.running_ns = now->running_ns;
    if (now->running_ns == 0 && now->enabled_ns > 0) ++g.reads_without_turn;
    return false;
  });
}

bool counter_set::too_crowded() const noexcept {
  return std::any_of(groups_.begin(), groups_.end(), [](const open_group& g) {
    return g.takes_turns && g.events.size() > 1 && g.running_ns == 0 && g.reads_without_turn >= patience;
  });
}

}  // namespace binnacle::agent
