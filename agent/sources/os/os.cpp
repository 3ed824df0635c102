#include "agent/sources/os/os.hpp"

#include <optional>
#include <utility>

namespace binnacle::agent {

os_source::os_source(os_options options) : options_(std::move(options)), parts_(make_parts(options_.roots)) {}

std::vector<os_source::entry> os_source::make_parts(const os_roots& roots) {
  std::vector<entry> parts;
  parts.push_back({make_cpu_part(roots)});
  parts.push_back({make_load_part(roots)});
  parts.push_back({make_memory_part(roots)});
  parts.push_back({make_network_part(roots)});
  parts.push_back({make_hugepages_part(roots)});
  for (const auto* resource : {"cpu", "memory", "io"}) parts.push_back({make_pressure_part(roots, resource)});
  parts.push_back({make_uptime_part(roots)});
  return parts;
}

std::vector<finding> os_source::probe() {
  std::vector<finding> found;
  board scratch;
  const auto group = scratch.add_group("os", "", options_.period, metrics::stale_after(options_.period));
  for (auto& e : make_parts(options_.roots)) {
    auto there = e.part->discover(scratch, group);
    if (there) there = e.part->read(scratch);
    if (there) {
      found.push_back({finding::grade::works, e.part->what(), {}, {}});
    } else {
      const auto grade =
          there.error().code == errc::not_found ? finding::grade::absent : finding::grade::broken;
      found.push_back({grade, e.part->what(), there.error().message, e.part->remedy()});
    }
  }
  return found;
}

result<void> os_source::discover(board& out) {
  group_ = out.add_group("os", "", options_.period, metrics::stale_after(options_.period));
  std::optional<error> first;
  bool any = false;
  for (auto& e : parts_) {
    // Also those found before: page sizes and NUMA nodes may have been added.
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
  bool any = false;
  std::optional<error> first;
  for (auto& e : parts_) {
    if (!e.found) continue;
    const auto done = e.part->read(out);
    any = any || done.has_value();
    if (!done && !first) first = done.error();
  }
  if (!any)
    return first ? *std::move(first)
                 : error{errc::not_found, options_.roots.proc + ": nothing to read was found there"};
  if (first) limitation_ = first->message;
  out.mark_read(group_, options_.roots.time.now());
  return {};
}

}  // namespace binnacle::agent
