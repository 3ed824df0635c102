#include "aggregator/outliers/power_outliers.hpp"

#include "aggregator/store/hardware.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace binnacle::aggregator {
std::optional<power_reading> power_of(const store::node_view& node, instant now) {
  if (!node.connected || node.cells == nullptr) return std::nullopt;
  const auto power = store::first_present(*node.cells, "host_power_watts", now);
  const std::string machine = store::machine_of(*node.cells, now);
  if (power.series == nullptr || machine.empty() || power.value <= 0) return std::nullopt;
  power_reading r{node.name, fmt::format("{}, by {}", machine, store::label_of(*power.series, "source")),
                  power.value, std::nullopt};
  if (const auto load = store::first_present(*node.cells, "os_cpu_utilization_ratio", now);
      load.series != nullptr)
    r.load = load.value;
  return r;
}

power_outliers::usual power_outliers::usual_of(const std::vector<const power_reading*>& nodes) const {
  std::vector<double> logs, loads;
  for (const auto* r : nodes) {
    logs.push_back(std::log(r->watts));
    if (r->load) loads.push_back(*r->load);
  }
  std::ranges::sort(logs);
  std::ranges::sort(loads);
  const auto out = std::max<std::size_t>(
      1, static_cast<std::size_t>(settings_.left_out * static_cast<double>(logs.size())));
  return {logs[out], logs[logs.size() - 1 - out],
          loads.empty() ? std::nullopt : std::optional(loads[loads.size() / 2])};
}

bool power_outliers::is_far(const power_reading& r, const usual& of_class, double bound) const {
  const double here = std::log(r.watts), far = bound * std::log(settings_.factor);
  const bool above = here >= of_class.most + far;
  if (!above && here > of_class.least - far) return false;
  if (!r.load || !of_class.load) return true;
  const double more_load = *r.load - *of_class.load;
  return std::abs(more_load) < settings_.load_apart || (more_load > 0) != above;
}

void power_outliers::look(std::span<const power_reading> all, instant now) {
  std::map<std::string_view, std::vector<const power_reading*>> classes;
  for (const auto& r : all) classes[r.hardware].push_back(&r);
  std::map<std::string, instant> far_since;
  std::map<std::string, outlier> named;
  for (const auto& [hardware, nodes] : classes) {
    if (nodes.size() < settings_.least_class) continue;
    const auto of_class = usual_of(nodes);
    for (const auto* r : nodes) {
      const auto known = named_.find(r->node);
      if (!is_far(*r, of_class, known == named_.end() ? 1 : settings_.comes_back)) continue;
      if (known != named_.end()) {
        named.insert(*known);
        continue;
      }
      const auto at = far_since_.find(r->node);
      const auto since = at == far_since_.end() ? now : at->second;
      if (now - since < settings_.lasting) {
        far_since.emplace(r->node, since);
      } else {
        named.emplace(r->node, outlier{r->watts, std::exp(of_class.least), std::exp(of_class.most),
                                       nodes.size() - 1, std::string(hardware)});
      }
    }
  }
  far_since_ = std::move(far_since);
  named_ = std::move(named);
}

std::string sentence_of(const std::string& node, const power_outliers::outlier& o) {
  return fmt::format(
      "node {}: host_power_watts says {:.1f} W, but {:.1f} to {:.1f} W are usual for the {} similar nodes "
      "({}): its sensor is wrong, or the machine is not like the others; run `binnacle doctor` there, and "
      "look at the sensor with the BMC's own tools",
      node, o.watts, o.least, o.most, o.others, o.hardware);
}

}  // namespace binnacle::aggregator
