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
  for (auto& e : parts) {
    outcomes.push_back(e.part->discover(scratch, group));
    if (outcomes.back()) outcomes.back() = e.part->read(scratch);
  }
  // Wait for the parts that are read in the background, so that slow ones are reported with the time they
  // took.
  const bool answered = options_.slow->wait(probe_patience);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& e = parts[i];
    auto& there = outcomes[i];
    if (there) there = e.part->read(scratch);
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
