#include "tests/bench/scale/node_sim.hpp"

#include "common/metrics/families.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace binnacle::bench {
namespace {

wire::catalog make_catalog() {
  wire::catalog out;
  out.version = 1;
  out.groups = {{"rapl", "", 1000, 10'000}, {"os", "", 1000, 10'000}};
  const auto add = [&out](std::uint16_t group, const char* family, metrics::label_set labels = {}) {
    const metrics::family* f = metrics::find(family);
    if (f == nullptr) throw std::logic_error(std::string("not in METRICS.md: ") + family);
    wire::series_info s;
    s.family = family;
    s.labels = std::move(labels);
    s.exponent = f->exponent;
    s.type = f->type;
    s.group = group;
    out.series.push_back(std::move(s));
  };
  for (const char* package : {"0", "1"}) add(0, "rapl_power_watts", {{"package", package}});  // 0, 1
  for (const char* package : {"0", "1"})
    add(0, "rapl_zone_power_watts", {{"zone", "dram"}, {"package", package}});  // 2, 3
  for (const char* zone : {"package", "dram"})
    for (const char* package : {"0", "1"})
      add(0, "rapl_energy_joules_total", {{"zone", zone}, {"package", package}});                // 4..7
  for (const char* package : {"0", "1"}) add(0, "rapl_headroom_ratio", {{"package", package}});  // 8, 9
  for (const char* package : {"0", "1"})
    add(0, "rapl_tdp_utilization_ratio", {{"package", package}});                           // 10, 11
  for (const char* package : {"0", "1"}) add(0, "rapl_tdp_watts", {{"package", package}});  // 12, 13
  for (const char* package : {"0", "1"})
    add(0, "rapl_limit_watts", {{"package", package}, {"constraint", "long_term"}});  // 14, 15
  add(1, "os_cpu_utilization_ratio");                                                 // 16
  for (const char* name : {"os_load1", "os_load5", "os_load15"}) add(1, name);        // 17..19
  for (const char* name : {"os_memory_available_bytes", "os_memory_free_bytes", "os_memory_used_bytes",
                           "os_memory_cached_bytes", "os_memory_buffers_bytes", "os_memory_total_bytes"})
    add(1, name);  // 20..25
  const metrics::label_set device = {{"device", "eth0"}, {"kind", "physical"}};
  for (const char* name : {"os_network_receive_bytes_total", "os_network_transmit_bytes_total",
                           "os_network_receive_packets_total", "os_network_transmit_packets_total",
                           "os_network_receive_bytes_per_second", "os_network_transmit_bytes_per_second",
                           "os_network_receive_packets_per_second", "os_network_transmit_packets_per_second"})
    add(1, name, device);  // 26..33
  for (const char* resource : {"cpu", "memory", "io"})
    add(1, "os_pressure_waiting_ratio", {{"resource", resource}});  // 34..36
  add(1, "os_context_switches_per_second");                         // 37
  add(1, "os_context_switches_total");                              // 38
  add(1, "os_cpus");                                                // 39
  if (out.series.size() != node_sim::series) throw std::logic_error("a simulated node has 40 series");
  return out;
}

}  // namespace

node_sim::node_sim(std::uint32_t seed, double base_watts)
    : random_(seed + 1), watts_{base_watts, base_watts * 0.9} {
  used_ += noise(5e9);
}

const wire::catalog& node_sim::catalog() {
  static const wire::catalog made = make_catalog();
  return made;
}

void node_sim::next_values(duration dt) {
  const double s = std::chrono::duration<double>(dt).count();
  constexpr double tdp = 205, total = 256e9;
  const auto whole = [](double v) { return static_cast<std::int64_t>(std::llround(v)); };
  utilization_ = std::clamp(utilization_ + noise(0.02), 0.02, 0.98);
  for (int p = 0; p < 2; ++p) {
    const double watts = std::max(5.0, watts_[p] + noise(1.5)), dram = std::max(2.0, 12 + noise(0.4));
    energy_[p] += watts * s;
    energy_[2 + p] += dram * s;
    now_[0 + p] = whole(watts * 10);
    now_[2 + p] = whole(dram * 10);
    now_[4 + p] = whole(energy_[p]);
    now_[6 + p] = whole(energy_[2 + p]);
    now_[8 + p] = whole((tdp - watts) / tdp * 1e4);
    now_[10 + p] = whole(watts / tdp * 1e4);
    now_[12 + p] = whole(tdp * 10);
    now_[14 + p] = whole(tdp * 10);
  }
  now_[16] = whole(utilization_ * 1e4);
  for (int i = 0; i < 3; ++i) {
    load_[i] += (utilization_ * 64 - load_[i]) * s / (60.0 * (i == 0 ? 1 : i == 1 ? 5 : 15)) + 0;
    now_[17 + i] = whole(load_[i] * 100);
  }
  used_ = std::clamp(used_ + noise(2e6), 1e9, 200e9);
  now_[20] = whole(total - used_);
  now_[21] = whole(total - used_ - 80e9);
  now_[22] = whole(used_);
  now_[23] = whole(60e9 + noise(1e5));
  now_[24] = whole(2e9);
  now_[25] = whole(total);
  const double rx = std::max(0.0, 40e6 * utilization_ + noise(5e5)),
               tx = std::max(0.0, 25e6 * utilization_ + noise(4e5));
  now_[26] += whole(rx * s);
  now_[27] += whole(tx * s);
  now_[28] += whole(rx / 900 * s);
  now_[29] += whole(tx / 700 * s);
  now_[30] = whole(rx);
  now_[31] = whole(tx);
  now_[32] = whole(rx / 900);
  now_[33] = whole(tx / 700);
  for (int i = 0; i < 3; ++i) now_[34 + i] = whole(std::max(0.0, noise(0.01)) * 1e4);
  now_[37] = whole(20000 * utilization_ + noise(300));
  now_[38] += static_cast<std::int64_t>(static_cast<double>(now_[37]) * s);
  now_[39] = 64;
}

void node_sim::step(wire::batch& out, bool full, instant now, duration dt) {
  next_values(dt);
  out.full = full;
  out.catalog_version = catalog().version;
  out.values.clear();
  out.absences.clear();
  out.reads.clear();
  out.reads.push_back({0, to_ns(now)});
  out.reads.push_back({1, to_ns(now)});
  for (std::uint32_t i = 0; i < series; ++i) {
    if (full || now_[i] != sent_[i]) out.values.push_back({i, now_[i]});
  }
  sent_ = now_;
}

}  // namespace binnacle::bench
