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
}

std::unique_ptr<source> host_kind::make(const settings& s, const source_parts& /*with*/) const {
  return std::make_unique<host_source>(host_options{s.period, inlets_, powers_, s.proc_root, s.sys_root});
}

}  // namespace binnacle::agent
