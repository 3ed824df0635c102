#include "agent/kernel/cpu_list.hpp"

#include "agent/kernel/kernel_file.hpp"
#include "agent/kernel/ranges.hpp"
#include "common/text/text.hpp"

#include <bitset>

namespace binnacle::agent {
namespace {

constexpr unsigned most_cpus = 8192;  // CONFIG_NR_CPUS of the largest distribution kernels

}  // namespace

std::optional<std::vector<unsigned>> parse_cpu_list(std::string_view text) {
  std::vector<unsigned> cpus;
  if (trimmed(text).empty()) return cpus;
  const auto ranges = parse_ranges(text, most_cpus - 1);
  if (!ranges) return std::nullopt;
  std::bitset<most_cpus> named;  // however often a text names a CPU
  for (const auto& [first, last] : *ranges) {
    for (unsigned cpu = first; cpu <= last; ++cpu) named.set(cpu);
  }
  for (unsigned cpu = 0; cpu < most_cpus; ++cpu) {
    if (named[cpu]) cpus.push_back(cpu);
  }
  return cpus;
}

std::optional<std::vector<unsigned>> read_cpu_list(const std::string& path) {
  kernel_file file(path);
  std::vector<char> buffer;
  const auto text = file.read(buffer, std::size_t{64} << 10);
  return text ? parse_cpu_list(*text) : std::nullopt;
}

std::optional<std::vector<unsigned>> online_cpus(const std::string& sys_root) {
  return read_cpu_list(sys_root + "/devices/system/cpu/online");
}

}  // namespace binnacle::agent
