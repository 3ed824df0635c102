#include "agent/kernel/cpu_list.hpp"

#include "agent/kernel/kernel_file.hpp"
#include "common/text/text.hpp"

#include <bitset>
#include <charconv>

namespace binnacle::agent {
namespace {

constexpr unsigned most_cpus = 8192;  // CONFIG_NR_CPUS of the largest distribution kernels

std::optional<unsigned> number(std::string_view text) {
  unsigned value = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bad != std::errc{} || end != text.data() + text.size() || value >= most_cpus) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::vector<unsigned>> parse_cpu_list(std::string_view text) {
  std::bitset<most_cpus> named;  // however often a text names a CPU
  text = trimmed(text);
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto range = text.substr(0, comma);
    const auto dash = range.find('-');
    const auto first = number(range.substr(0, dash));
    const auto last = dash == range.npos ? first : number(range.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    for (unsigned cpu = *first; cpu <= *last; ++cpu) named.set(cpu);
    if (comma == text.npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return std::nullopt;
  }
  std::vector<unsigned> cpus;
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

}  // namespace binnacle::agent
