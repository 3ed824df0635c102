#include "agent/sources/pmu/pmu.hpp"

#include "agent/kernel/absence_of.hpp"
#include "agent/kernel/cpu_list.hpp"
#include "agent/sources/pmu/descriptor_room.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace binnacle::agent {
namespace {

// The events in a group beside cycles and instructions. Most PMUs have at least four general counters a
// thread, and the NMI watchdog may hold one.
constexpr unsigned most_general = 3;

bool is_unsupported(int error_number) {
  return why_refused(error_number, {}).code == errc::unsupported && error_number != ENOSYS;
}

}  // namespace

pmu_source::pmu_source(pmu_options options, clocks time, perf_opener open)
    : options_(std::move(options)),
      time_(std::move(time)),
      open_(std::move(open)),
      online_file_(options_.sys_root + "/devices/system/cpu/online"),
      quotients_{{"pmu_instructions_per_cycle", "instructions", "cycles", {}},
                 {"pmu_llc_miss_ratio", "cache-misses", "cache-references", {}}},
      counters_(open_) {}

result<void> pmu_source::discover(board& out) {
  const auto text = online_file_.read(buffer_);
  const auto online = text ? parse_cpu_list(*text) : std::nullopt;
  if (!text) return text.error();
  if (!online || online->empty()) {
    return error{errc::invalid_input, online_file_.path() + ": not a list of CPUs: check sys-root"};
  }
  online_ = *text;
  group_ = out.add_group("pmu", "", options_.period, metrics::stale_after(options_.period));
  find_events();
  if (relented(*online)) reopen();
  open(*online, out);
  if (counters_.reads() == 0) return why_nothing();
  return {};
}

// Finds the events to count, and the CPUs on which they are counted, as the machine is now.
void pmu_source::find_events() {
  const event_finder finder(find_pmu_devices(options_.sys_root));
  auto list = list_events(options_.wishes, finder);
  problems_ = std::move(list.problems);
  if (!tracks(list.events)) track(std::move(list.events));
}

// Whether the tracked events are these, at the same places. A tracked event whose PMU went away has no place
// and does not count.
bool pmu_source::tracks(const std::vector<counted_event>& events) {
  const auto is_there = [](const counted_event& e) { return !e.places.empty(); };
  return std::ranges::count_if(tracked_, is_there, &tracked::about) ==
             std::ranges::count_if(events, is_there) &&
         std::ranges::all_of(events, [&](const counted_event& e) {
           const tracked* known = find(e.name);
           return known != nullptr && known->about.places == e.places;
         });
}

// Whether the kernel would accept a refused event now, because a right was granted or a counter became free.
bool pmu_source::relented(std::span<const unsigned> online) const {
  return std::ranges::any_of(counters_.refused(), [&](const auto& refusal) {
    const auto& places = tracked_[refusal.first].about.places;
    if (refusal.second == EMFILE) return false;  // open() tries it again by itself
    return std::ranges::all_of(places, [&](const event_place& place) {
      const unsigned cpu = place.cpus && !place.cpus->empty() ? place.cpus->front() : online.front();
      return perf_group().add(open_, {.event = place.encoding, .cpu = cpu}) == 0;
    });
  });
}

// An event that was tracked before keeps its total. If its PMU went away, it stays announced as missing.
void pmu_source::track(std::vector<counted_event> events) {
  for (auto& old : tracked_) old.about.places.clear();
  for (auto& e : events) {
    if (auto* known = find(e.name)) {
      known->about = std::move(e);
    } else {
      tracked_.push_back({.about = std::move(e)});
    }
  }
  reopen();
}

// For when counters are opened again on CPUs that are online: their totals lack what happened meanwhile.
void pmu_source::restart_rates() {
  for (auto& t : tracked_) {
    for (auto& [cpu, meter] : t.meters) meter.restart();
  }
}

// Makes a new plan. read() then opens the counters.
void pmu_source::reopen() {
  std::vector<event_places> places;
  for (const auto& t : tracked_) places.push_back(t.about.places);
  restart_rates();
  plan_ = plan_groups(places, one_by_one_ ? 0 : most_general);
  counters_.close();
  reopen_ = true;
}

void pmu_source::open(std::span<const unsigned> online, board& out) {
  std::size_t wanted = 0;
  for (const auto& g : plan_) wanted += g.members.size() * (g.cpus ? g.cpus->size() : online.size());
  counters_.open(plan_, online, make_descriptor_room(std::min(wanted, options_.most_descriptors)));
  announce(online, out);
  limit();
}

void pmu_source::announce(std::span<const unsigned> online, board& out) {
  const auto keys_of = [&](const counted_event& e) {
    if (!options_.per_cpu || !e.named) return std::vector<int>{whole_machine};
    return std::vector<int>(online.begin(), online.end());
  };
  const auto labels_of = [](const metrics::label_set& own, int key) {
    auto labels = own;
    if (key != whole_machine) labels.emplace_back("cpu", std::to_string(key));
    return labels;
  };
  for (std::size_t i = 0; i < tracked_.size(); ++i) {
    auto& t = tracked_[i];
    const auto keys = keys_of(t.about);
    for (auto& [key, meter] : t.meters) {
      if (std::ranges::find(keys, key) == keys.end()) meter.retire(out);
    }
    const auto refusal = counters_.refused().find(i);
    for (const int key : keys) {
      auto& meter = t.meters[key];
      meter.announce(t.about, labels_of(t.about.labels, key), out, group_);
      if (t.about.places.empty()) {
        meter.refuse(absence::missing, out);
      } else if (refusal != counters_.refused().end()) {
        meter.refuse(absence_of(refusal->second), out);
      }
    }
    if (!t.about.software()) {
      t.running_ratio = out.add_series(group_, "pmu_running_ratio", {{"event", t.about.name}});
      if (refusal != counters_.refused().end()) out.set_absent(t.running_ratio, absence_of(refusal->second));
    }
  }
  for (auto& q : quotients_) {
    const auto* above = find(q.above);
    if (above == nullptr || find(q.below) == nullptr) continue;
    const auto keys = keys_of(above->about);
    std::erase_if(q.series, [&](const auto& known) {
      if (std::ranges::find(keys, known.first) != keys.end()) return false;
      out.remove_series(known.second);
      return true;
    });
    for (const int key : keys)
      q.series[key] = out.add_series(group_, std::string(q.family), labels_of({}, key));
  }
}

// Sets the limitation: one event that is not counted although another look may help, or although the
// configuration names it. Events that the machine simply does not have are reported by --probe only.
void pmu_source::limit() {
  limitation_ = problems_.empty() ? std::string() : problems_.front();
  if (!limitation_.empty()) return;
  for (const auto& [event, error_number] : counters_.refused()) {
    const auto& about = tracked_[event].about;
    if (is_unsupported(error_number) && !about.asked) continue;
    const auto refusal = why_refused(error_number, options_.proc_root);
    limitation_ = fmt::format("{}: {}: {}", about.name, refusal.why, refusal.remedy);
    return;
  }
}

result<void> pmu_source::why_nothing() const {
  if (!counters_.refused().empty()) {
    const auto refusal = why_refused(counters_.refused().begin()->second, options_.proc_root);
    return error{refusal.code, fmt::format("{}: {}", refusal.why, refusal.remedy)};
  }
  if (!problems_.empty()) return error{errc::invalid_input, problems_.front()};
  return error{errc::invalid_input,
               "nothing is to be counted: set pmu-preset or pmu-events, or take pmu out of sources"};
}

pmu_source::tracked* pmu_source::find(std::string_view event) {
  const auto it = std::ranges::find_if(tracked_, [&](const tracked& t) { return t.about.name == event; });
  return it == tracked_.end() ? nullptr : &*it;
}

result<void> pmu_source::read(board& out) {
  if (const auto text = online_file_.read(buffer_); text && (reopen_ || *text != online_)) {
    if (const auto online = parse_cpu_list(*text)) {
      if (*text != online_) {
        // When a CPU goes offline, the kernel counts a box on another CPU of its package.
        find_events();
      } else {
        restart_rates();
      }
      online_ = *text;
      open(*online, out);
    }
  }
  counters_.read(counts_);
  if (counts_.empty()) return why_nothing();
  const auto now = time_.now();
  for (auto& t : tracked_) t.enabled_ns = t.running_ns = 0;
  reopen_ = false;
  for (const auto& c : counts_) {
    if (counters_.refused().contains(c.event)) continue;  // refused on another CPU
    auto& t = tracked_[c.event];
    const int key = options_.per_cpu && t.about.named ? static_cast<int>(c.cpu) : whole_machine;
    t.meters[key].add(c);
    t.enabled_ns += c.enabled_ns;
    t.running_ns += c.running_ns;
    reopen_ = reopen_ || c.reason == absence::missing;
  }
  for (std::size_t i = 0; i < tracked_.size(); ++i) {
    auto& t = tracked_[i];
    for (auto& [key, meter] : t.meters) meter.settle(now, out);
    if (!counters_.refused().contains(i)) set_running_ratio(t, out);
  }
  set_quotients(out);
  out.mark_read(group_, now);
  if (!one_by_one_ && counters_.too_crowded()) {
    one_by_one_ = true;
    reopen();
  }
  return {};
}

void pmu_source::set_running_ratio(tracked& t, board& out) {
  if (t.enabled_ns == 0) return out.set_absent(t.running_ratio, absence::missing);
  out.set(t.running_ratio, static_cast<double>(t.running_ns) / static_cast<double>(t.enabled_ns));
}

void pmu_source::set_quotients(board& out) {
  for (auto& q : quotients_) {
    for (const auto& [key, series] : q.series) {
      const auto& above = find(q.above)->meters[key];
      const auto& below = find(q.below)->meters[key];
      const auto divisor = below.per_second();
      if (const auto dividend = above.per_second(); dividend && divisor && *divisor > 0) {
        out.set(series, *dividend / *divisor);
      } else if (below.reason() != absence::none) {
        out.set_absent(series, below.reason());
      } else {
        out.set_absent(series, dividend ? absence::no_data : above.reason());
      }
    }
  }
}

}  // namespace binnacle::agent
