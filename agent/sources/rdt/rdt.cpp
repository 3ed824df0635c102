#include "agent/sources/rdt/rdt.hpp"

#include "agent/base/probe.hpp"
#include "agent/kernel/absence_of.hpp"
#include "common/system/descriptor.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace binnacle::agent {
namespace {

// Groups are made and removed by other programs (when a pod starts), so look for them more often than for
// zones and disks.
constexpr duration next_look = std::chrono::seconds(10);

struct traffic_kind {
  const char* file;
  const char* total;
  const char* per_second;
};
constexpr std::array<traffic_kind, 2> traffic_kinds{{
    {"mbm_total_bytes", "rdt_memory_bandwidth_bytes_total", "rdt_memory_bandwidth_bytes_per_second"},
    {"mbm_local_bytes", "rdt_memory_bandwidth_local_bytes_total",
     "rdt_memory_bandwidth_local_bytes_per_second"},
}};

struct bytes {
  std::uint64_t value = 0;
  absence reason = absence::none;
};

// Reads a number. If the hardware had none, the kernel writes a word instead.
bytes read_bytes(kernel_file& file, std::vector<char>& buffer) {
  const auto text = file.read(buffer);
  if (!text) return {0, absence_of(file.last_errno())};
  if (const auto value = parse_unsigned(*text)) return {*value};
  const auto word = trimmed(*text);
  if (word == "Unavailable" || word == "Error") return {0, absence::no_data};
  if (word == "Unassigned") return {0, absence::not_running};  // no hardware counter: AMD's ABMC
  return {0, absence::malformed};
}

bool readable(const std::string& path) { return static_cast<bool>(open_readonly(path)); }

}  // namespace

rdt_source::rdt_source(rdt_options options, clocks time)
    : options_(std::move(options)), time_(std::move(time)) {}

result<void> rdt_source::discover(board& out) {
  auto tree = find_resctrl_groups(options_.sys_root, options_.proc_root, options_.most_groups);
  if (!tree) {
    for (const auto& g : groups_) forget(g, out);
    groups_.clear();
    return tree.error();
  }
  board_group_ = out.add_group("rdt", "", options_.period, metrics::stale_after(options_.period));
  adopt(*std::move(tree), out);
  return {};
}

void rdt_source::adopt(resctrl_tree tree, board& out) {
  looked_at_ = time_.now();
  std::erase_if(groups_, [&](const group& known) {
    const bool stays = std::ranges::find(tree.groups, known.about) != tree.groups.end();
    if (!stays) forget(known, out);
    return !stays;
  });
  for (auto& g : tree.groups) {
    if (std::ranges::find(groups_, g, &group::about) == groups_.end())
      groups_.push_back(announce(std::move(g), out));
  }
  limitation_.clear();
  if (tree.left_out > 0) {
    limitation_ = fmt::format("{} groups of resctrl are left out beyond rdt-groups {}: raise it",
                              tree.left_out, options_.most_groups);
  }
}

rdt_source::group rdt_source::announce(resctrl_group about, board& out) {
  group g{std::move(about), {}};
  for (const auto& d : g.about.domains) {
    const metrics::label_set labels{
        {"group", g.about.name}, {"kind", g.about.control ? "control" : "monitoring"}, {"domain", d.id}};
    cache c;
    // A CPU may count only occupancy or only bandwidth. There is no file for what it does not count.
    if (readable(d.folder + "/llc_occupancy")) {
      c.occupancy = kernel_file(d.folder + "/llc_occupancy");
      c.occupied = out.add_series(board_group_, "rdt_llc_occupancy_bytes", labels);
    }
    for (std::size_t i = 0; i < traffic_kinds.size(); ++i) {
      const auto path = d.folder + "/" + traffic_kinds[i].file;
      if (!readable(path)) continue;
      c.moved[i].file = kernel_file(path);
      c.moved[i].total = out.add_series(board_group_, traffic_kinds[i].total, labels);
      c.moved[i].per_second = out.add_series(board_group_, traffic_kinds[i].per_second, labels);
    }
    g.caches.push_back(std::move(c));
  }
  return g;
}

void rdt_source::forget(const group& g, board& out) {
  for (const auto& c : g.caches) {
    out.remove_series(c.occupied);
    for (const auto& t : c.moved) {
      out.remove_series(t.total);
      out.remove_series(t.per_second);
    }
  }
}

result<void> rdt_source::read(board& out) {
  if (time_.now() - looked_at_ >= next_look) {
    auto tree = find_resctrl_groups(options_.sys_root, options_.proc_root, options_.most_groups);
    if (!tree) return tree.error();
    adopt(*std::move(tree), out);
  }
  if (groups_.empty()) return error{errc::not_found, "no group of resctrl has been found yet"};
  for (auto& g : groups_) {
    for (auto& c : g.caches) read_cache(c, out);
  }
  out.mark_read(board_group_, time_.now());
  return {};
}

void rdt_source::read_cache(cache& c, board& out) {
  if (c.occupied != board::no_series) {
    const auto n = read_bytes(c.occupancy, buffer_);
    if (n.reason == absence::none) {
      out.set(c.occupied, static_cast<std::int64_t>(n.value));
    } else {
      out.set_absent(c.occupied, n.reason);
    }
  }
  for (auto& t : c.moved) {
    if (t.total != board::no_series) read_traffic(t, out);
  }
}

void rdt_source::read_traffic(traffic& t, board& out) {
  const auto n = read_bytes(t.file, buffer_);
  if (n.reason != absence::none) {
    t.rate.restart();
    out.set_absent(t.total, n.reason);
    out.set_absent(t.per_second, n.reason);
    return;
  }
  out.set(t.total, static_cast<std::int64_t>(n.value));
  t.rate.update(n.value, time_.now());
  if (t.rate.reason() == absence::none) {
    out.set(t.per_second, t.rate.per_second());
  } else {
    out.set_absent(t.per_second, t.rate.reason());
  }
}

std::vector<finding> rdt_source::probe() {
  constexpr const char* what = "cache and memory bandwidth (RDT)";
  const auto tree = find_resctrl_groups(options_.sys_root, options_.proc_root, options_.most_groups);
  if (!tree) {
    auto none = why_no_resctrl(options_.sys_root, options_.proc_root);
    const auto grade = none.code == errc::unsupported ? finding::grade::absent : finding::grade::broken;
    return {{grade, what, std::move(none.why), std::move(none.remedy)}};
  }
  const auto& root = tree->groups.front();
  std::string events;
  for (const auto* file : {"llc_occupancy", "mbm_total_bytes", "mbm_local_bytes"}) {
    if (!readable(root.domains.front().folder + "/" + file)) continue;
    events += fmt::format("{}{}", events.empty() ? "" : ", ", file);
  }
  auto text =
      fmt::format("{}, in {} groups and {} L3 caches", events.empty() ? "no event can be read" : events,
                  tree->groups.size(), root.domains.size());
  std::vector<finding> found;
  if (tree->left_out == 0) {
    found.push_back({finding::grade::works, std::move(text), {}, {}});
  } else {
    found.push_back({finding::grade::limited, std::move(text),
                     fmt::format("{} more groups are left out", tree->left_out),
                     fmt::format("raise rdt-groups (now {})", options_.most_groups)});
  }
  board scratch;
  rdt_source once(options_, time_);
  if (once.discover(scratch) && once.read(scratch)) {
    if (auto none = without_value(scratch)) found.push_back(*std::move(none));
  }
  return found;
}

}  // namespace binnacle::agent
