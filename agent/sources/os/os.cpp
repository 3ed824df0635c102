#include "agent/sources/os/os.hpp"

#include "agent/base/probe.hpp"
#include "agent/base/problem_summary.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace binnacle::agent {

namespace {

constexpr duration probe_patience = std::chrono::seconds(2);

os_options with_reader(os_options options) {
  if (!options.slow) options.slow = std::make_shared<slow_reader>();
  return options;
}

}  // namespace

os_source::os_source(os_options options)
    : options_(with_reader(std::move(options))), parts_(make_parts(options_)) {}

std::vector<os_source::entry> os_source::make_parts(const os_options& options) {
  std::vector<entry> parts;
  parts.push_back({make_cpu_part(options)});
  parts.push_back({make_load_part(options)});
  parts.push_back({make_memory_part(options)});
  parts.push_back({make_network_part(options)});
  parts.push_back({make_hugepages_part(options)});
  for (const auto* resource : {"cpu", "memory", "io"})
    parts.push_back({make_pressure_part(options, resource)});
  parts.push_back({make_uptime_part(options)});
  parts.push_back({make_cpufreq_part(options)});
  parts.push_back({make_throttle_part(options)});
  parts.push_back({make_hwmon_part(options)});
  parts.push_back({make_thermal_part(options)});
  return parts;
}

std::vector<finding> os_source::probe() {
  std::vector<finding> found;
  board scratch;
  const auto group = scratch.add_group("os", "", options_.period, metrics::stale_after(options_.period));
  auto parts = make_parts(options_);
  std::vector<result<void>> outcomes;
  const auto begin = [&](os_part& part) -> result<void> {
    if (auto there = part.discover(scratch, group); !there) return there;
    return part.read(scratch);
  };
  for (auto& e : parts) outcomes.push_back(begin(*e.part));
  // Wait for the parts that are read in the background, so that slow ones are reported with the time they
  // took.
  bool answered = options_.slow->wait(probe_patience);
  std::vector<std::size_t> begun_again;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto& part = *parts[i].part;
    if (outcomes[i]) outcomes[i] = part.read(scratch);
    // A reading may show that there is something else to read: the parts of a zone without a meter.
    if (!outcomes[i] || !part.looks_again()) continue;
    outcomes[i] = begin(part);
    begun_again.push_back(i);
  }
  if (!begun_again.empty()) answered = options_.slow->wait(probe_patience);
  for (const auto i : begun_again) {
    if (outcomes[i]) outcomes[i] = parts[i].part->read(scratch);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& e = parts[i];
    const auto& there = outcomes[i];
    if (there) {
      problem_summary limits;
      e.part->add_limitations(limits);
      auto left_out = std::move(limits).sentence();
      found.push_back({left_out.empty() ? finding::grade::works : finding::grade::limited,
                       e.part->what(),
                       std::move(left_out),
                       {}});
    } else {
      const auto grade =
          there.error().code == errc::not_found ? finding::grade::absent : finding::grade::broken;
      found.push_back({grade, e.part->what(), there.error().message, e.part->remedy()});
    }
  }
  if (auto none = without_value(scratch)) found.push_back(*std::move(none));
  if (!answered) {
    found.push_back({finding::grade::limited, "sensors behind a bus or firmware",
                     fmt::format("not all answered within {}", human(probe_patience)),
                     "the parts above without a time are read in the background, so that other reads go on"});
  }
  return found;
}

result<void> os_source::discover(board& out) {
  group_ = out.add_group("os", "", options_.period, metrics::stale_after(options_.period));
  std::optional<error> first;
  bool any = false;
  for (auto& e : parts_) {
    // Parts that were found before are asked again: page sizes and NUMA nodes may have been added.
    const auto there = e.part->discover(out, group_);
    if (there) e.found = true;
    if (!there && !first) first = there.error();
    any = any || e.found;
  }
  if (!any && first) return *std::move(first);
  return {};
}

result<void> os_source::read(board& out) {
  limitation_.clear();
  options_.slow->tend(options_.time.now());
  bool any = false;
  std::optional<error> first;
  problem_summary left_out;
  for (auto& e : parts_) {
    if (e.part->looks_again() && e.part->discover(out, group_)) e.found = true;
    if (!e.found) continue;
    const auto done = e.part->read(out);
    any = any || done.has_value();
    if (!done && !first) first = done.error();
    if (done) e.part->add_limitations(left_out);
  }
  if (!any)
    return first ? *std::move(first)
                 : error{errc::not_found, options_.proc + ": nothing to read was found there"};
  limitation_ = first ? first->message : std::move(left_out).sentence();
  out.mark_read(group_, options_.time.now());
  return {};
}

}  // namespace binnacle::agent
