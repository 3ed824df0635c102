#include "agent/sources/pmu/pods.hpp"

#include "agent/kernel/absence_of.hpp"
#include "agent/kernel/cpu_list.hpp"
#include "agent/sources/pmu/descriptor_room.hpp"
#include "agent/sources/pmu/named_events.hpp"
#include "agent/sources/pmu/pod_cgroups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <utility>

namespace binnacle::agent {
namespace {

struct pod_event {
  std::string_view name;
  std::string_view family;
};
constexpr std::array<pod_event, 5> pod_events{{{"cycles", "pmu_pod_cycles"},
                                               {"instructions", "pmu_pod_instructions"},
                                               {"cache-misses", "pmu_pod_cache_misses"},
                                               {"context-switches", "pmu_pod_context_switches"},
                                               {"page-faults", "pmu_pod_page_faults"}}};

constexpr std::size_t most_looked_at = 4096;  // a kubelet does not allow that many pods
// Opening an event on another CPU takes some ten microseconds, so the number opened in one read is bounded.
constexpr std::size_t most_opened_at_once = 512;

}  // namespace

pod_source::pod_source(pod_options options, clocks time, perf_opener open)
    : options_(std::move(options)), time_(std::move(time)), open_(std::move(open)) {}

int pod_source::choose_events(board& out) {
  const event_finder finder(find_pmu_devices(options_.sys_root));
  std::vector<counted_event> events;
  std::vector<event_places> places;
  int failed = 0;
  for (const auto& [name, family] : pod_events) {
    auto there = finder.find(name);
    if (!there) continue;
    int refused = 0;
    for (const auto& place : *there) {
      perf_group trial;
      const unsigned cpu = place.cpus && !place.cpus->empty() ? place.cpus->front() : online_.front();
      if (const int why = trial.add(open_, {.event = place.encoding, .cpu = cpu}); why != 0) refused = why;
    }
    if (refused != 0) {
      failed = refused;
      continue;
    }
    counted_event e;
    e.name = name;
    e.total = std::string(family) + "_total";
    e.rate = std::string(family) + "_per_second";
    e.places = *std::move(there);
    places.push_back(e.places);
    events.push_back(std::move(e));
  }
  const bool same = std::ranges::equal(events, events_, {}, &counted_event::places, &counted_event::places);
  if (!same || plan_.empty()) {
    while (!pods_.empty()) forget(pods_.begin(), out);
    plan_ = plan_groups(places, 3);
    events_ = std::move(events);
  }
  return failed;
}

result<void> pod_source::discover(board& out) {
  const auto online = online_cpus(options_.sys_root);
  if (!online || online->empty()) {
    return error{errc::not_found,
                 options_.sys_root + "/devices/system/cpu/online cannot be read: check sys-root"};
  }
  online_ = *online;
  if (perf_cgroups(options_.sys_root).empty()) return error{errc::not_found, no_cgroups()};
  if (const int failed = choose_events(out); events_.empty()) {
    const auto refusal = why_refused(failed, options_.proc_root);
    return error{refusal.code, fmt::format("{}: {}", refusal.why, refusal.remedy)};
  }
  group_ = out.add_group("pmu-pods", "", options_.period, metrics::stale_after(options_.period));
  return {};
}

std::string pod_source::no_cgroups() const {
  return fmt::format(
      "there are no cgroups below {}/fs/cgroup: mount the host's /sys whole, with what is mounted in "
      "it, or take pmu-pods off",
      options_.sys_root);
}

void pod_source::adopt(const std::string& uid, const std::string& folder, board& out) {
  descriptor cgroup(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!cgroup) return;  // the pod went away a moment ago
  const int fd = cgroup.get();
  auto& p = pods_.insert({uid, pod{std::move(cgroup), counter_set(open_, fd), {}}}).first->second;
  const metrics::label_set labels{{"pod_uid", uid}};
  for (const auto& e : events_) p.meters.emplace_back().announce(e, labels, out, group_);
  const auto has = [&](std::string_view name) {
    return std::ranges::count(events_, name, &counted_event::name) != 0;
  };
  if (has("cycles") && has("instructions"))
    p.per_cycle = out.add_series(group_, "pmu_pod_instructions_per_cycle", labels);
}

void pod_source::forget(std::map<std::string, pod>::iterator it, board& out) {
  for (auto& meter : it->second.meters) meter.remove(out);
  out.remove_series(it->second.per_cycle);
  pods_.erase(it);
}

// Closes pods that are gone and begins with new ones.
void pod_source::follow(board& out) {
  const auto found = find_pod_cgroups(perf_cgroups(options_.sys_root), most_looked_at);
  const auto is_there = [&](const std::string& uid) {
    return std::ranges::binary_search(found, uid, {}, &pod_cgroup::uid);
  };
  for (auto it = pods_.begin(); it != pods_.end();) {
    const auto gone = it++;
    if (!is_there(gone->first)) forget(gone, out);
  }
  std::size_t each = 0;
  for (const auto& g : plan_) each += g.members.size() * (g.cpus ? g.cpus->size() : online_.size());
  const auto room = make_descriptor_room(options_.most_descriptors);
  const auto most = std::min(options_.most_pods, each == 0 ? 0 : room / (each + 1));
  std::size_t opened = 0;
  for (const auto& [uid, folder] : found) {
    if (pods_.contains(uid)) continue;
    if (pods_.size() >= most || (opened > 0 && opened + each > most_opened_at_once)) break;
    adopt(uid, folder, out);
    opened += each;
  }
  limitation_.clear();
  if (found.size() > most) {
    limitation_ =
        most < options_.most_pods
            ? fmt::format("{} of {} pods are counted: there are too few open files, raise LimitNOFILE", most,
                          found.size())
            : fmt::format("{} of {} pods are counted: raise pmu-most-pods", most, found.size());
  }
  for (auto& [uid, p] : pods_) p.counters.open(plan_, online_, each);
}

result<void> pod_source::read(board& out) {
  if (const auto online = online_cpus(options_.sys_root); online) online_ = *online;
  if (perf_cgroups(options_.sys_root).empty()) return error{errc::not_found, no_cgroups()};
  follow(out);
  for (auto& [uid, p] : pods_) read_pod(p, time_.now(), out);
  out.mark_read(group_, time_.now());
  return {};
}

void pod_source::read_pod(pod& p, instant now, board& out) {
  p.counters.read(counts_);
  for (const auto& c : counts_) p.meters[c.event].add(c);
  for (const auto& [event, why] : p.counters.refused()) p.meters[event].refuse(absence_of(why), out);
  for (std::size_t i = 0; i < p.meters.size(); ++i) {
    if (!p.counters.refused().contains(i)) p.meters[i].settle(now, out);
  }
  if (p.per_cycle == board::no_series) return;
  // pod_events begins with cycles
  const auto cycles = p.meters[0].per_second();
  const auto instructions = p.meters[1].per_second();
  if (cycles && instructions && *cycles > 0) {
    out.set(p.per_cycle, *instructions / *cycles);
  } else {
    const auto why = cycles ? p.meters[1].reason() : p.meters[0].reason();
    out.set_absent(p.per_cycle, why == absence::none ? absence::no_data : why);
  }
}

std::vector<finding> pod_source::probe() {
  constexpr const char* what = "events of each pod";
  board scratch;
  pod_source trial(options_, time_, open_);
  if (const auto there = trial.discover(scratch); !there) {
    const auto grade =
        there.error().code == errc::unsupported ? finding::grade::absent : finding::grade::broken;
    return {{grade, what, there.error().message, {}}};
  }
  std::string names;
  for (const auto& e : trial.events_) names += (names.empty() ? "" : ", ") + e.name;
  const auto pods = find_pod_cgroups(perf_cgroups(options_.sys_root), most_looked_at).size();
  if (pods == 0) {
    return {{finding::grade::absent, fmt::format("{} ({})", what, names), "no pod has a cgroup here",
             "run it on a Kubernetes node with the host's /sys, or take pmu-pods off"}};
  }
  return {{finding::grade::works,
           fmt::format("{} ({}), {} pod{}", what, names, pods, pods == 1 ? "" : "s"),
           {},
           {}}};
}

}  // namespace binnacle::agent
