#pragma once

#include "common/wire/messages.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace binnacle::wire::test {

/// The data of a two-socket server at 1 Hz: 40 series of the families that the agent emits, at their
/// resolutions, with as much noise as on real machines. Every series changes every second (a gauge that
/// repeats its value is moved a little). This is the worst case for the encoding: on a real idle node about
/// half of the series change.
class noisy_node {
 public:
  explicit noisy_node(std::uint32_t seed) : random_(seed) {
    const auto rapl = group("rapl", 1000), os = group("os", 1000), net = group("os", 1000);
    for (const char* package : {"0", "1"}) {
      // A package's power wanders by a few watts a second under a steady load; its joules follow.
      walk("rapl_power_watts", {{"package", package}}, -1, rapl, 1650, 25);
      walk("rapl_zone_power_watts", {{"zone", "dram"}, {"package", package}}, -1, rapl, 230, 5);
      count("rapl_energy_joules_total", {{"zone", "package"}, {"package", package}}, 0, rapl, 165, 5);
      count("rapl_energy_joules_total", {{"zone", "dram"}, {"package", package}}, 0, rapl, 23, 2);
      walk("rapl_headroom_ratio", {{"package", package}}, -4, rapl, 3400, 120);
      walk("rapl_tdp_utilization_ratio", {{"package", package}}, -4, rapl, 6600, 120);
    }
    walk("os_cpu_utilization_ratio", {}, -4, os, 4200, 200);
    count("os_cpu_seconds_total", {{"mode", "user"}}, -2, os, 2200, 150);
    count("os_cpu_seconds_total", {{"mode", "system"}}, -2, os, 400, 60);
    count("os_cpu_seconds_total", {{"mode", "iowait"}}, -2, os, 30, 12);
    count("os_cpu_seconds_total", {{"mode", "idle"}}, -2, os, 3700, 200);
    for (const char* load : {"os_load1", "os_load5", "os_load15"}) walk(load, {}, -2, os, 2300, 9);
    walk("os_memory_available_bytes", {}, 0, os, 180'000'000'000, 9'000'000);
    walk("os_memory_free_bytes", {}, 0, os, 140'000'000'000, 9'000'000);
    walk("os_memory_used_bytes", {}, 0, os, 70'000'000'000, 9'000'000);
    walk("os_memory_cached_bytes", {}, 0, os, 40'000'000'000, 900'000);
    walk("os_memory_slab_reclaimable_bytes", {}, 0, os, 3'000'000'000, 60'000);
    for (const char* what : {"cpu", "memory", "io"})
      walk("os_pressure_waiting_ratio", {{"resource", what}}, -4, os, 300, 8);
    for (const char* what : {"cpu", "io"})
      count("os_pressure_waiting_seconds_total", {{"resource", what}}, -3, os, 30, 8);
    const metrics::label_set device = {{"device", "eno1"}, {"kind", "physical"}};
    count("os_network_receive_bytes_total", device, 0, net, 9'000'000, 1'500'000);
    count("os_network_transmit_bytes_total", device, 0, net, 4'000'000, 700'000);
    count("os_network_receive_packets_total", device, 0, net, 9'000, 1'500);
    count("os_network_transmit_packets_total", device, 0, net, 6'000, 1'000);
    walk("os_network_receive_bytes_per_second", device, 0, net, 9'000'000, 1'500'000);
    walk("os_network_transmit_bytes_per_second", device, 0, net, 4'000'000, 700'000);
    walk("os_network_receive_packets_per_second", device, 0, net, 9'000, 1'500);
    walk("os_network_transmit_packets_per_second", device, 0, net, 6'000, 1'000);
    count("os_context_switches_total", {}, 0, os, 42'000, 2'500);
    walk("os_context_switches_per_second", {}, 0, os, 42'000, 2'500);
  }

  const catalog& announces() const noexcept { return catalog_; }

  /// The batch that the node sends at `sent_at_ns`. Each group was read some milliseconds before.
  batch tick(std::int64_t sent_at_ns, bool full) {
    batch b;
    b.full = full;
    b.sent_at_ns = sent_at_ns;
    std::uniform_int_distribution<std::int64_t> early(50'000, 4'000'000);
    for (std::uint16_t g = 0; g < catalog_.groups.size(); ++g)
      b.reads.push_back({g, sent_at_ns - early(random_)});
    for (std::uint32_t i = 0; i < now_.size(); ++i) {
      const auto& m = moves_[i];
      const auto step = std::llround(std::normal_distribution<double>(0, m.noise)(random_));
      if (m.rate != 0) {
        now_[i] += std::max<std::int64_t>(1, m.rate + step);
      } else {
        // A gauge is pulled back to its level, so that it wanders and does not drift.
        const auto next = now_[i] + step + (m.level - now_[i]) / 8;
        now_[i] = next == now_[i] ? next + 1 : next;
      }
      b.values.push_back({i, now_[i]});
    }
    return b;
  }

 private:
  struct move {
    std::int64_t level, rate;
    double noise;
  };

  std::uint16_t group(const char* source, std::uint32_t period_ms) {
    catalog_.groups.push_back({source, "", period_ms, 10'000});
    return static_cast<std::uint16_t>(catalog_.groups.size() - 1);
  }
  void walk(const char* family, metrics::label_set labels, std::int8_t exponent, std::uint16_t g,
            std::int64_t level, double noise) {
    catalog_.series.push_back({family, std::move(labels), exponent, metrics::kind::gauge, g, ""});
    moves_.push_back({level, 0, noise});
    now_.push_back(level);
  }
  void count(const char* family, metrics::label_set labels, std::int8_t exponent, std::uint16_t g,
             std::int64_t rate, double noise) {
    catalog_.series.push_back({family, std::move(labels), exponent, metrics::kind::counter, g, ""});
    moves_.push_back({0, rate, noise});
    now_.push_back(rate * 86'400);
  }

  std::mt19937 random_;
  catalog catalog_{1, {}, {}};
  std::vector<move> moves_;
  std::vector<std::int64_t> now_;
};

}  // namespace binnacle::wire::test
