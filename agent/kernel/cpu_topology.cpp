#include "agent/kernel/cpu_topology.hpp"

#include "agent/kernel/cpu_list.hpp"
#include "agent/kernel/kernel_file.hpp"
#include "common/system/os_error.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace binnacle::agent {
namespace {

namespace fs = std::filesystem;

}  // namespace

result<std::vector<unsigned>> find_cpus(const std::string& sys_root) {
  const auto folder = sys_root + "/devices/system/cpu";
  std::vector<unsigned> cpus;
  std::error_code bad;
  fs::directory_iterator it(folder, bad);
  if (bad) return error{errc_of(bad.value()), folder + ": " + describe(bad.value())};
  for (const fs::directory_iterator end; !bad && it != end; it.increment(bad)) {
    const auto name = it->path().filename().string();
    if (!name.starts_with("cpu")) continue;
    if (const auto number = parse_unsigned(std::string_view(name).substr(3)))
      cpus.push_back(static_cast<unsigned>(*number));
  }
  std::ranges::sort(cpus);
  return cpus;
}

std::size_t count_cpus_online(const std::string& sys_root) {
  const auto listed = online_cpus(sys_root);
  const auto cpus = find_cpus(sys_root);
  std::size_t with_topology = 0;
  for (const unsigned cpu : cpus ? *cpus : std::vector<unsigned>()) {
    std::error_code bad;
    const auto folder = fmt::format("{}/devices/system/cpu/cpu{}/topology", sys_root, cpu);
    if (fs::is_directory(folder, bad)) ++with_topology;
  }
  return std::max(listed ? listed->size() : 0, with_topology);
}

cpu_seat seat_of(const std::string& sys_root, unsigned cpu) {
  const auto number = [&](std::string_view file) {
    auto text = read_line(fmt::format("{}/devices/system/cpu/cpu{}/topology/{}", sys_root, cpu, file));
    return text && parse_unsigned(*text) ? std::move(text) : std::nullopt;
  };
  return {cpu, number("physical_package_id"), number("die_id"), number("core_id")};
}

// A node lies in one package, so its first CPU says in which one. A node without CPUs says nothing.
std::set<std::string> packages_without_memory(const std::string& sys_root) {
  const auto nodes = sys_root + "/devices/system/node/";
  const auto online = read_cpu_list(nodes + "online"), with_memory = read_cpu_list(nodes + "has_memory");
  if (!online || !with_memory) return {};
  std::set<std::string> with, without;
  for (const unsigned node : *online) {
    const auto cpus = read_cpu_list(fmt::format("{}node{}/cpulist", nodes, node));
    if (!cpus || cpus->empty()) continue;
    auto seat = seat_of(sys_root, cpus->front());
    if (!seat.package) continue;
    auto& those = std::ranges::binary_search(*with_memory, node) ? with : without;
    those.insert(*std::move(seat.package));
  }
  for (const auto& package : with) without.erase(package);
  return without;
}

std::vector<std::pair<std::string_view, std::string_view>> first_cpu(std::string_view cpuinfo) {
  std::vector<std::pair<std::string_view, std::string_view>> said;
  while (!cpuinfo.empty()) {
    const auto end = std::min(cpuinfo.find('\n'), cpuinfo.size());
    const auto line = cpuinfo.substr(0, end);
    cpuinfo.remove_prefix(std::min(end + 1, cpuinfo.size()));
    const auto is_of_cpu = [](const auto& s) { return s.first.starts_with("processor"); };
    // LoongArch has an empty line between the system's type and the first CPU.
    if (line.empty() && std::ranges::any_of(said, is_of_cpu)) break;
    const auto colon = line.find(':');
    if (colon != line.npos)
      said.emplace_back(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  }
  return said;
}

std::string_view value_of_first_cpu(std::string_view cpuinfo, std::string_view name) {
  const auto said = first_cpu(cpuinfo);
  const auto at = std::ranges::find(said, name, &decltype(said)::value_type::first);
  return at == said.end() ? std::string_view() : at->second;
}

}  // namespace binnacle::agent
