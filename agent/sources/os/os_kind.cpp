#include "agent/sources/os/os_kind.hpp"

#include <chrono>

namespace binnacle::agent {

void os_kind::bind(config_spec& spec) {
  using std::chrono::hours;
  spec.group("os: what the kernel says of the machine");
  add_period(spec, name(), chosen_.period);
  spec.add("os-sensor-period", chosen_.sensor_period, std::chrono::milliseconds(100), hours(1),
           "time between two reads of sensors that hardware may delay: sensor chips, thermal zones, CPU "
           "frequency");
  spec.add("os-drive-period", chosen_.drive_period, std::chrono::seconds(1), hours(24),
           "time between two reads of drives' temperatures, each of which is a command to the drive");
  spec.add("os-per-cpu", chosen_.per_cpu,
           "also give a series for each CPU and core (time, frequency, temperature)");
  spec.add(
      "proc-net", chosen_.net,
      "folder where the machine's /proc/net is mounted: in a container /proc/1/net of the host (default: "
      "the one below proc-root)");
  spec.add("virtual-interfaces", chosen_.virtual_interfaces,
           "also read virtual network interfaces (bridges, pods' ends)");
}

os_options os_kind::options(const settings& s) const {
  auto o = chosen_;
  o.proc = s.proc_root;
  o.sys = s.sys_root;
  o.period = s.period_of(chosen_.period);
  return o;
}

std::unique_ptr<source> os_kind::make(const settings& s, const source_parts& /*with*/) const {
  return std::make_unique<os_source>(options(s));
}

}  // namespace binnacle::agent
