#include "agent/sources/host/hardware.hpp"

#include "agent/sources/cpu_list.hpp"
#include "agent/sources/kernel_file.hpp"
#include "agent/sources/os/proc_text.hpp"
#include "common/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

namespace binnacle::agent {
namespace {

namespace fs = std::filesystem;

// What follows "NAME :" on its line; empty if there is none. Keys are padded with tabs.
std::string_view value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    const auto colon = line.find(':');
    if (colon == line.npos || trimmed(line.substr(0, colon)) != key) continue;
    return trimmed(line.substr(colon + 1));
  }
  return {};
}

unsigned sockets_of(const std::string& sys_root) {
  std::set<std::string> packages;
  std::error_code bad;
  for (fs::directory_iterator it(sys_root + "/devices/system/cpu", bad), end; !bad && it != end;
       it.increment(bad)) {
    const auto name = it->path().filename().string();
    if (!name.starts_with("cpu") || !parse_unsigned(std::string_view(name).substr(3))) continue;
    // -1: a machine whose firmware does not say.
    if (auto id = read_line(it->path().string() + "/topology/physical_package_id"); id && *id != "-1")
      packages.insert(*std::move(id));
  }
  return std::max(1u, static_cast<unsigned>(packages.size()));
}

// Cards for computing; a server's own graphics is a VGA controller (0x0300), of which every board has one.
unsigned accelerators_of(const std::string& sys_root) {
  unsigned count = 0;
  std::error_code bad;
  for (fs::directory_iterator it(sys_root + "/bus/pci/devices", bad), end; !bad && it != end;
       it.increment(bad)) {
    const auto what = read_line(it->path().string() + "/class").value_or("");
    for (const std::string_view kind : {"0x0302", "0x0380", "0x1200"})
      count += what.starts_with(kind) ? 1 : 0;
  }
  return count;
}

}  // namespace

std::string cpu_name(std::string_view cpuinfo) {
  if (const auto model = value_of(cpuinfo, "model name"); !model.empty()) return std::string(model);
  const auto maker = value_of(cpuinfo, "CPU implementer"), part = value_of(cpuinfo, "CPU part");
  if (maker.empty() || part.empty()) return {};
  return fmt::format("implementer {} part {}", maker, part);
}

std::uint64_t built_in_gib(std::uint64_t bytes) noexcept {
  const auto gib = (bytes + (1u << 30) - 1) >> 30;
  const auto step = std::max<std::uint64_t>(1, std::bit_floor(std::max<std::uint64_t>(1, gib - 1)) / 8);
  return (gib + step - 1) / step * step;
}

hardware read_hardware(const std::string& proc_root, const std::string& sys_root) {
  hardware h;
  std::vector<char> buffer;
  if (const auto text = kernel_file(proc_root + "/cpuinfo").read(buffer)) h.cpu = cpu_name(*text);
  if (h.cpu.empty()) h.cpu = "unknown";
  if (const auto text = kernel_file(proc_root + "/meminfo").read(buffer)) {
    if (const auto memory = proc::parse_meminfo(*text); memory && memory->total)
      h.memory_gib = built_in_gib(*memory->total);
  }
  h.sockets = sockets_of(sys_root);
  h.accelerators = accelerators_of(sys_root);
  return h;
}

}  // namespace binnacle::agent
