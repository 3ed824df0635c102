#include "aggregator/store/hardware.hpp"

#include <fmt/format.h>

#include <charconv>

namespace binnacle::store {

present_value first_present(const row& cells, std::string_view family, instant now) {
  for (const auto i : cells.series().of_family(family)) {
    const auto s = cells.load(i);
    if (s.present(now)) return {&cells.series().all[i], to_double(s.value)};
  }
  return {};
}

std::string machine_of(const row& cells, instant now) {
  const shape::series* info = first_present(cells, "host_hardware_info", now).series;
  if (info == nullptr) return {};
  const auto of = [info](std::string_view label) { return metrics::label_of(info->labels, label); };
  return fmt::format("{} x {}, {} GiB, {} accelerators", of("sockets"), of("cpu"), of("memory_gib"),
                     of("accelerators"));
}

std::string with_cpus(std::string machine, double cpus) {
  machine += fmt::format(", {:.0f} CPUs", cpus);
  return machine;
}

std::string_view part_measured(std::string_view source) noexcept {
  if (source == "dcmi" || source == "bmc" || source == "supplies") return "machine";
  if (source == "psys") return "platform";
  if (source == "rapl" || source == "arm-scmi" || source == "hwmon") return "processors";
  return {};
}

unsigned accelerators_measured(std::string_view source, const shape::series& about) noexcept {
  if (source.empty() || part_measured(source) == "processors") return 0;
  const std::string_view count = metrics::label_of(about.labels, "accelerators");
  unsigned out = 0;
  (void)std::from_chars(count.data(), count.data() + count.size(), out);
  return out;
}

}  // namespace binnacle::store
