#include "agent/sources/host/hardware.hpp"

#include "agent/kernel/cpu_topology.hpp"
#include "agent/kernel/kernel_file.hpp"
#include "agent/sources/os/proc_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

namespace binnacle::agent {
namespace {

unsigned sockets_of(const std::string& sys_root) {
  std::set<std::string> packages;
  const auto cpus = find_cpus(sys_root);
  for (const unsigned cpu : cpus ? *cpus : std::vector<unsigned>()) {
    if (auto seat = seat_of(sys_root, cpu); seat.package) packages.insert(*std::move(seat.package));
  }
  return std::max(1u, static_cast<unsigned>(packages.size()));
}

// Counts cards for computing. A server's own graphics is a VGA controller (0x0300); every board has one, so
// it does not count.
unsigned accelerators_of(const std::string& sys_root) {
  unsigned all = 0;
  for (const auto& [what, count] : pci_classes(sys_root)) {
    if (what == "0x0302" || what == "0x0380" || what == "0x1200") all += count;
  }
  return all;
}

// "IBM/S390 machine 3931". On the same line there is a serial number, so not all of it is taken.
std::string name_on_s390(std::string_view cpuinfo) {
  constexpr std::string_view key = "machine = ";
  for (const auto& [name, value] : first_cpu(cpuinfo)) {
    const auto at = value.find(key);
    if (name.starts_with("processor ") && at != value.npos)
      return fmt::format("{} machine {}", value_of_first_cpu(cpuinfo, "vendor_id"),
                         value.substr(at + key.size()));
  }
  return {};
}

}  // namespace

std::map<std::string, unsigned> pci_classes(const std::string& sys_root) {
  constexpr std::string_view mark = "0x";
  constexpr std::size_t digits = 4;  // class and subclass; the next two are the programming interface
  std::map<std::string, unsigned> counts;
  const auto devices = sys_root + "/bus/pci/devices";
  for (const auto& name : names_in(devices)) {
    const auto what = read_line(devices + "/" + name + "/class").value_or("");
    if (what.starts_with(mark)) ++counts[what.substr(0, mark.size() + digits)];
  }
  return counts;
}

std::string cpu_name(std::string_view cpuinfo) {
  const auto value_of = [&](std::string_view name) { return value_of_first_cpu(cpuinfo, name); };
  if (const auto model = value_of("model name"); !model.empty()) return std::string(model);
  const auto maker = value_of("CPU implementer"), part = value_of("CPU part");
  if (!maker.empty() && !part.empty()) return fmt::format("implementer {} part {}", maker, part);
  // LoongArch, MIPS, POWER, and RISC-V with a device tree.
  for (const auto* name : {"Model Name", "cpu model", "cpu", "uarch"}) {
    if (const auto model = value_of(name); !model.empty()) return std::string(model);
  }
  const auto vendor = value_of("mvendorid"), design = value_of("marchid");
  if (!vendor.empty() && !design.empty()) return fmt::format("mvendorid {} marchid {}", vendor, design);
  return name_on_s390(cpuinfo);
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
  if (h.cpu.empty()) {
    // Machines of two architectures are never alike. Linux has this file since 6.1.
    const auto architecture = read_line(proc_root + "/sys/kernel/arch");
    h.cpu = architecture ? "unknown " + *architecture : "unknown";
  }
  if (const auto text = kernel_file(proc_root + "/meminfo").read(buffer)) {
    if (const auto memory = proc::parse_meminfo(*text); memory && memory->total)
      h.memory_gib = built_in_gib(*memory->total);
  }
  h.sockets = sockets_of(sys_root);
  h.accelerators = accelerators_of(sys_root);
  return h;
}

}  // namespace binnacle::agent
