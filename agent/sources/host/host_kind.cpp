#include "agent/sources/host/host_kind.hpp"

namespace binnacle::agent {

void host_kind::bind(config_spec& spec) {
  spec.group("host: the node's best figures");
  spec.add("inlet-sensors", inlets_,
           "hwmon sensors (LABEL or CHIP/LABEL) and thermal zones (TYPE) that count as air inlet if no BMC "
           "gives one: names with * and ?");
  spec.add("power-sensors", powers_,
           "hwmon sensors (LABEL or CHIP/LABEL) whose sum is host_power_watts if neither a BMC nor RAPL nor "
           "arm-scmi gives it: names with * and ?; no sensor may measure a part of another");
  spec.add("power-wait", wait_, duration{}, std::chrono::hours(1),
           "time after the start in which host_power_watts waits for a BMC, or another source that measures "
           "more of the machine, before one that measures less counts");
}

std::unique_ptr<source> host_kind::make(const settings& s, const source_parts& /*with*/) const {
  return std::make_unique<host_source>(
      host_options{s.period, inlets_, powers_, wait_, s.proc_root, s.sys_root});
}

}  // namespace binnacle::agent
