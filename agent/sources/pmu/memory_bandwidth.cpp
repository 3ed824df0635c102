#include "agent/sources/pmu/memory_bandwidth.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace binnacle::agent {
namespace {

// Event names for one direction on one PMU. The events of a row are added up; the first row whose events
// exist is used.
using row = std::array<std::string_view, 2>;
constexpr std::array<row, 4> read_rows{{{"cas_count_read", ""},
                                        {"cas_count_read_sch0", "cas_count_read_sch1"},
                                        {"data_reads", ""},
                                        {"data_read", ""}}};
constexpr std::array<row, 4> write_rows{{{"cas_count_write", ""},
                                         {"cas_count_write_sch0", "cas_count_write_sch1"},
                                         {"data_writes", ""},
                                         {"data_write", ""}}};

struct direction {
  std::string_view name;
  const std::array<row, 4>& rows;
  std::string_view umc_terms;
};
constexpr std::array<direction, 2> directions{
    {{"read", read_rows, "event=0x0a,rdwrmask=0x1"}, {"write", write_rows, "event=0x0a,rdwrmask=0x2"}}};
constexpr double umc_bytes = 64;
constexpr double most_transfer_bytes = 4096;

std::optional<double> bytes_in(std::string_view unit) {
  if (unit == "MiB") return 1024.0 * 1024;
  if (unit == "KiB") return 1024.0;
  if (unit == "Bytes" || unit == "B") return 1.0;
  return std::nullopt;
}

// How many bytes a count of this event is. A count is a transfer, which is 64 bytes on all machines so far.
// An event in MiB whose scale is missing would count 16,384 times as much.
std::optional<double> bytes_of(const pmu_alias& event) {
  const auto unit = bytes_in(event.unit);
  if (!unit || (!event.scale && *unit > 1)) return std::nullopt;
  const double bytes = event.scale.value_or(1) * *unit;
  return bytes >= 1 && bytes <= most_transfer_bytes ? std::optional(bytes) : std::nullopt;  // NaN is neither
}

// Adds the events of a row to `out`. False if this PMU lacks them, or if nobody knows how many bytes they
// count.
bool add_row(const pmu_device& d, const row& names, memory_flow& out) {
  event_places places;
  double bytes = 0;
  for (const auto name : names) {
    if (name.empty()) continue;
    const auto alias = d.alias(std::string(name));
    const auto count = alias ? bytes_of(*alias) : std::nullopt;
    const auto encoding = d.encode(name);
    if (!count || !encoding) return false;
    bytes = *count;
    places.push_back({*encoding, d.type(), d.box_cpus()});
  }
  if (out.places.empty()) out.bytes = bytes;
  if (out.bytes != bytes) return false;
  out.places.insert(out.places.end(), places.begin(), places.end());
  return true;
}

memory_flow find_flow(std::span<const pmu_device> devices, const direction& wanted, bool free_running) {
  memory_flow flow{std::string(wanted.name), 0, {}};
  for (const auto& d : devices) {
    const std::string_view name = d.name();
    if (name.starts_with("uncore_imc") && (name.find("free_running") != name.npos) == free_running) {
      for (const auto& names : wanted.rows) {
        if (add_row(d, names, flow)) break;
      }
    } else if (name.starts_with("amd_umc") && !free_running) {
      const auto encoding = d.encode(wanted.umc_terms);
      if (!encoding) continue;
      flow.bytes = umc_bytes;
      flow.places.push_back({*encoding, d.type(), d.box_cpus()});
    }
  }
  return flow;
}

}  // namespace

std::vector<memory_flow> find_memory_flows(std::span<const pmu_device> devices) {
  for (const bool free_running : {false, true}) {
    std::vector<memory_flow> flows;
    for (const auto& wanted : directions) {
      auto flow = find_flow(devices, wanted, free_running);
      if (!flow.places.empty()) flows.push_back(std::move(flow));
    }
    if (!flows.empty()) return flows;
  }
  return {};
}

}  // namespace binnacle::agent
