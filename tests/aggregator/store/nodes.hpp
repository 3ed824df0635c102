#pragma once

#include "aggregator/store/types.hpp"
#include "common/wire/messages.hpp"

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

/// Short ways to make catalogs and batches as agents send them.
namespace binnacle::store {

constexpr instant at_s(double seconds) { return from_ns(static_cast<std::int64_t>(seconds * 1e9)); }

struct catalog_builder {
  wire::catalog made{.version = 1};

  catalog_builder& group(std::string source, std::uint32_t stale_after_ms = 10'000, std::string name = {}) {
    made.groups.push_back({std::move(source), std::move(name), 1000, stale_after_ms});
    return *this;
  }
  /// Adds a series to the newest group.
  catalog_builder& series(std::string family, metrics::label_set labels = {}, int exponent = 0,
                          metrics::kind type = metrics::kind::gauge) {
    made.series.push_back({std::move(family),
                           std::move(labels),
                           static_cast<std::int8_t>(exponent),
                           type,
                           static_cast<std::uint16_t>(made.groups.size() - 1),
                           {}});
    return *this;
  }
  operator wire::catalog() const { return made; }
};

/// Two packages with DRAM and psys, all in one group.
inline catalog_builder two_packages() {
  const auto counter = metrics::kind::counter;
  catalog_builder c;
  c.group("rapl");
  c.series("rapl_power_watts", {{"package", "0"}}, -1).series("rapl_power_watts", {{"package", "1"}}, -1);
  c.series("rapl_zone_power_watts", {{"zone", "dram"}, {"package", "0"}}, -1);
  c.series("rapl_zone_power_watts", {{"zone", "core"}, {"package", "0"}}, -1);
  c.series("rapl_zone_power_watts", {{"zone", "psys"}}, -1);
  c.series("rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}}, 0, counter);
  c.series("rapl_energy_joules_total", {{"zone", "package"}, {"package", "1"}}, 0, counter);
  c.series("rapl_energy_joules_total", {{"zone", "dram"}, {"package", "0"}}, 0, counter);
  c.series("rapl_tdp_watts", {{"package", "0"}}, -1).series("rapl_tdp_watts", {{"package", "1"}}, -1);
  c.series("rapl_tdp_utilization_ratio", {{"package", "0"}}, -4)
      .series("rapl_tdp_utilization_ratio", {{"package", "1"}}, -4);
  return c;
}

/// One metric of two files: a series in each of two groups. The node's number is the maximum.
inline catalog_builder rack_inlets(std::uint32_t second_stale_after_ms = 10'000) {
  catalog_builder c;
  c.group("textfile", 10'000, "a.prom").series("rack_inlet", {{"where", "top"}});
  c.group("textfile", second_stale_after_ms, "b.prom").series("rack_inlet", {{"where", "bottom"}});
  return c;
}

/// A batch in which only this one of their files was read.
inline wire::batch rack_inlet_at(const wire::catalog& c, instant read_at, std::uint16_t group,
                                 std::int64_t value) {
  return {.catalog_version = c.version,
          .sent_at_ns = to_ns(read_at),
          .reads = {{group, to_ns(read_at)}},
          .values = {{group, value}}};
}

/// A batch with values by series index. All groups were read at `read_at`.
inline wire::batch batch_at(const wire::catalog& c, instant read_at,
                            std::vector<std::pair<std::uint32_t, std::int64_t>> values = {}) {
  wire::batch b{.catalog_version = c.version, .sent_at_ns = to_ns(read_at)};
  for (std::uint16_t g = 0; g < c.groups.size(); ++g) b.reads.push_back({g, to_ns(read_at)});
  for (const auto& [series, mantissa] : values) b.values.push_back({series, mantissa});
  return b;
}

inline std::ostream& operator<<(std::ostream& out, certainty c) { return out << static_cast<int>(c); }

inline std::ostream& operator<<(std::ostream& out, const sample& s) {
  return out << s.value << " reason " << static_cast<int>(s.reason) << " read " << to_ns(s.read_at)
             << " expires " << to_ns(s.expires_at) << (s.partial ? " partial" : "")
             << (s.link_down ? " link down" : "");
}

}  // namespace binnacle::store
