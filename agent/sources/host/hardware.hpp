#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace binnacle::agent {

/// Labels that tell kinds of machines apart: machines with the same four values draw the same power under the
/// same load. No serial numbers, no names.
struct hardware {
  /// "AMD EPYC 7763 64-Core Processor". Where the kernel does not say, "unknown" and the architecture.
  std::string cpu;
  unsigned sockets = 1;          ///< packages with a CPU online
  std::uint64_t memory_gib = 0;  ///< as built in: see built_in_gib()
  unsigned accelerators = 0;     ///< PCI devices that compute: 3D controllers and processing accelerators
};

/// Reads PROC/cpuinfo, PROC/meminfo, PROC/sys/kernel/arch, SYS/devices/system/cpu and SYS/bus/pci. Never
/// fails: what cannot be read is unknown. Blocks: some small files, on a large machine a few hundred. Source:
/// Linux Documentation/arch/x86/cpuinfo.rst, ABI/testing/sysfs-devices-system-cpu, sysfs-bus-pci; classes of
/// devices: pci.ids, C 03 and C 12.
hardware read_hardware(const std::string& proc_root, const std::string& sys_root);

/// How many PCI devices the kernel shows of each class, by the first four digits of its number ("0x0302").
/// Blocks: a small file for each device.
std::map<std::string, unsigned> pci_classes(const std::string& sys_root);

/// The CPU's name in the text of /proc/cpuinfo: the model's name, or what the kernel gives instead (numbers
/// of implementer and part on Arm, the machine's type on s390). Empty if there is nothing of that. Source:
/// show_cpuinfo() in Linux arch/{arm64,loongarch,mips,powerpc,riscv,s390}/kernel.
std::string cpu_name(std::string_view cpuinfo);

/// The memory that a machine was built with, in GiB, from the number of bytes that its kernel has. Firmware
/// keeps a few percent, and not the same amount in two equal machines. Memory comes in modules, so the bytes
/// are rounded up to the next eighth of a power of two.
std::uint64_t built_in_gib(std::uint64_t bytes) noexcept;

}  // namespace binnacle::agent
