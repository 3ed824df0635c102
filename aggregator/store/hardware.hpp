#pragma once

#include "aggregator/store/row.hpp"
#include "common/clock.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace binnacle::store {

/// A series of a node, and its value now.
struct present_value {
  const shape::series* series = nullptr;  ///< null: none of the family has a value
  double value = 0;
};
/// The first series of that family that has a value now.
present_value first_present(const row& cells, std::string_view family, instant now);

/// The node's hardware as its agent describes it (host_hardware_info): "2 x EPYC 7763, 512 GiB, 0
/// accelerators". Nodes with the same text are alike. Empty: the agent does not describe it.
std::string machine_of(const row& cells, instant now);

/// The same with its CPUs that are online: "…, 0 accelerators, 256 CPUs". Machines with SMT and without it,
/// or with half of their CPUs offline, draw other watts at the same load.
std::string with_cpus(std::string machine, double cpus);

/// Which part of a machine a source of host_power_watts measures: "machine", "platform" or "processors";
/// empty: nobody knows. Source: agent/sources/host/ways.cpp.
std::string_view part_measured(std::string_view source) noexcept;

/// How many accelerators that source of host_power_watts measures, too, on a machine with this
/// host_hardware_info. 0 also if nobody knows.
unsigned accelerators_measured(std::string_view source, const shape::series& about) noexcept;

}  // namespace binnacle::store
