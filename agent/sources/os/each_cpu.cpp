#include "agent/sources/os/each_cpu.hpp"

#include <string>
#include <unistd.h>

namespace binnacle::agent {

void each_cpu::take(std::string_view stat, board& out) {
  static const auto ticks_per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  proc::parse_cpus(stat, lines_);
  for (auto& [number, c] : cpus_) c.seen = false;
  for (const auto& line : lines_) {
    auto [it, fresh] = cpus_.try_emplace(line.number);
    auto& c = it->second;
    if (fresh) {
      const auto name = std::to_string(line.number);
      for (std::size_t i = 0; i < c.modes.size(); ++i) {
        c.modes[i] = out.add_series(group_, "os_per_cpu_seconds_total",
                                    {{"cpu", name}, {"mode", std::string(proc::cpu_ticks::modes[i])}});
      }
      c.utilization = out.add_series(group_, "os_per_cpu_utilization_ratio", {{"cpu", name}});
    }
    c.seen = true;
    for (std::size_t i = 0; i < c.modes.size(); ++i) {
      out.set(c.modes[i], static_cast<std::int64_t>(line.ticks.mode[i] * 100 / ticks_per_second));
    }
    const auto used = c.last ? proc::utilization(*c.last, line.ticks) : std::nullopt;
    if (used) out.set(c.utilization, *used);
    if (!c.last || used) c.last = line.ticks;
  }
  std::erase_if(cpus_, [&](const auto& known) {
    const auto& c = known.second;
    if (c.seen) return false;
    for (const auto s : c.modes) out.remove_series(s);
    out.remove_series(c.utilization);
    return true;
  });
}

void each_cpu::stand_still(board& out) {
  for (const auto& [number, c] : cpus_) out.set_absent(c.utilization, absence::stands_still);
}

void each_cpu::absent(absence reason, board& out) {
  for (auto& [number, c] : cpus_) {
    for (const auto s : c.modes) out.set_absent(s, reason);
    out.set_absent(c.utilization, reason);
    c.last.reset();
  }
}

}  // namespace binnacle::agent
