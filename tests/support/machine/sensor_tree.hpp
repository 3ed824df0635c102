#pragma once

#include <map>
#include <string>

namespace binnacle::support {

/// What the kernel shows of a machine's sensors below ROOT (its /sys): hwmon chips, thermal zones, cpufreq
/// policies and throttle counters, with the device links by which chips are named.
/// Provenance: written after the kernel's documentation (hwmon/coretemp.rst, k10temp.rst, drivetemp.rst,
/// jc42.rst, nct6775.rst; driver-api/thermal; admin-guide/pm/cpufreq.rst) and the drivers' attribute names,
/// not copied from a machine.
namespace sensor_trees {

/// Two-socket Xeon: coretemp of both sockets (package and cores), jc42 on a memory module, nct6779 with fans
/// and voltages, an NVMe and a SATA drive, ACPI and package zones, 4 CPUs in 4 policies, throttle counters.
void xeon(const std::string& root);
/// EPYC: k10temp with Tctl and CCDs, two NVMe drives, no thermal zones, acpi-cpufreq shared by two CPUs, no
/// throttle counters.
void epyc(const std::string& root);
/// Ampere Altra: smpro_hwmon with the temperatures and power of its regulators, APM's older xgene driver
/// beside it, no RAPL and no powercap. After hwmon/smpro-hwmon.rst and the labels of smpro-hwmon.c and
/// xgene-hwmon.c.
void altra(const std::string& root);
/// An Arm server with SCMI: powercap zones of control type arm-scmi, of which one cannot be monitored
/// (reading it fails), and scmi_sensors. After drivers/powercap/arm_scmi_powercap.c and hwmon/scmi-hwmon.c.
void arm_scmi(const std::string& root);

}  // namespace sensor_trees

/// ROOT/class/hwmon/hwmonN of a driver, with these files, and a `device` link to DEVICE (none if empty).
void write_chip(const std::string& root, unsigned number, const std::string& driver,
                const std::string& device, const std::map<std::string, std::string>& files);

}  // namespace binnacle::support
