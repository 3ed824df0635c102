#pragma once

#include "agent/ipmi/protocol/protocol.hpp"
#include "agent/sources/bmc/bmc_snapshot.hpp"

#include <string>
#include <utility>
#include <vector>

/// Messages with which helpers describe boards.
namespace binnacle::agent::test {

inline ipmi::sensor sensor_of(std::string key, std::string name,
                              ipmi::sensor_kind kind = ipmi::sensor_kind::temperature,
                              std::string unit = "celsius") {
  ipmi::sensor s;
  s.key = std::move(key);
  s.name = std::move(name);
  s.entity = "system board";
  s.entity_id = 7;
  s.instance = 1;
  s.kind = kind;
  s.unit = std::move(unit);
  return s;
}

inline ipmi::reading reading_of(std::string key, double value, std::int64_t read_at_ns = 0) {
  ipmi::reading r;
  r.key = std::move(key);
  r.value = value;
  r.read_at_ns = read_at_ns;
  return r;
}

inline ipmi::reading absence_of(std::string key, absence reason) {
  ipmi::reading r;
  r.key = std::move(key);
  r.reason = reason;
  return r;
}

/// Gives this inventory to `v`, with all sensors planned at `period_ms`.
inline void tell(bmc_snapshot& v, const std::vector<ipmi::sensor>& sensors, std::uint32_t period_ms = 1000) {
  (void)v.take(ipmi::bmc{.address = "/dev/ipmi0"});
  ipmi::plan p;
  for (const auto& s : sensors) {
    (void)v.take(s);
    p.period_ms[s.key] = period_ms;
  }
  (void)v.take(ipmi::inventory_end{static_cast<std::uint32_t>(sensors.size())});
  (void)v.take(p);
}

}  // namespace binnacle::agent::test
