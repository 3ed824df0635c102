#include "agent/sampling/stuck_sensors.hpp"

#include "agent/base/processor_sensors.hpp"
#include "agent/base/sensor_name.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace binnacle::agent {
namespace {

constexpr duration between_looks = std::chrono::seconds(5);
constexpr std::array<std::string_view, 4> units{"watts", "celsius", "rpm", "amperes"};

/// Whether the family is a measured physical quantity. Limits are settings, composites are judged by their
/// parts, and a BMC's statistics over a day hardly move.
bool is_sensor(const metrics::family& f) {
  return f.type == metrics::kind::gauge && std::ranges::find(units, f.unit) != units.end() &&
         f.source != "host" && f.name.find("_limit_") == f.name.npos && f.name.find("_tdp_") == f.name.npos &&
         f.name.find("_minimum_") == f.name.npos && f.name.find("_average_") == f.name.npos &&
         f.name.find("_maximum_") == f.name.npos;
}

/// The group of sensors with which a sensor is compared: those of its family and zone. Different zones have
/// little in common: an idle GPU is calm while the memory's sensor moves. A hwmon sensor of the processors
/// has no peers: the others of its chip hang with it, a card is calm while the processors move, and the CPU
/// load tells more of it than both.
std::string kind_of(const wire::series_info& s) {
  if (s.family == "os_hwmon_power_watts" && is_named(s, usual_powers)) {
    return fmt::format("{}/{}/{}", s.family, metrics::label_of(s.labels, "chip"),
                       metrics::label_of(s.labels, "sensor"));
  }
  std::string kind = s.family;
  for (const auto& [name, value] : s.labels) {
    if (name == "zone") kind += "/" + value;
  }
  return kind;
}

std::string shown(const wire::series_info& s) {
  std::string labels;
  for (const auto& [name, value] : s.labels)
    labels += fmt::format("{}{}=\"{}\"", labels.empty() ? "" : ",", name, value);
  return labels.empty() ? s.family : fmt::format("{}{{{}}}", s.family, labels);
}

}  // namespace

void stuck_sensors::find(const board& from) {
  found_in_ = from.version();
  sensors_.clear();
  load_ = board::no_series;
  for (board::series_ref s = 0; s < from.series().size(); ++s) {
    const auto& e = from.series()[s];
    if (e.removed || e.foreign) continue;
    if (e.info.family == "os_cpu_utilization_ratio") load_ = s;
    if (const auto* f = metrics::find(e.info.family); f != nullptr && is_sensor(*f)) sensors_.push_back(s);
  }
}

bool stuck_sensors::look(board& out, instant now) {
  if (now < next_) return false;
  next_ = now + between_looks;
  if (found_in_ != out.version()) find(out);
  if (sensors_.empty() && by_source_.empty()) return false;

  std::vector<stuck_watch::reading> all;
  std::set<std::string> power;
  all.reserve(sensors_.size());
  for (const auto s : sensors_) {
    const auto& e = out.series()[s];
    const auto value = out.measured(s);
    auto kind = kind_of(e.info);
    if (metrics::find(e.info.family)->unit == "watts") power.insert(kind);
    all.push_back({s, std::move(kind), value ? std::optional(value->mantissa) : std::nullopt,
                   out.groups()[e.info.group].read_at});
  }
  std::optional<double> load;
  if (load_ != board::no_series && out.series()[load_].reason == absence::none)
    load = to_double(out.series()[load_].value);
  watch_.look(all, load, power, now);

  const auto before = std::exchange(by_source_, {});
  for (const auto& [s, since] : watch_.stuck())
    by_source_[out.groups()[out.series()[s].info.group].info.source].push_back(s);
  if (what_ == on_frozen::absent) {
    for (const auto s : sensors_) out.withhold(s, absence::frozen, watch_.stuck().contains(s));
  }
  return by_source_ != before;
}

std::size_t stuck_sensors::count(std::string_view source) const {
  const auto at = by_source_.find(source);
  return at == by_source_.end() ? 0 : at->second.size();
}

std::string stuck_sensors::sentence(std::string_view source, const board& from) const {
  const auto at = by_source_.find(source);
  if (at == by_source_.end()) return {};
  const auto first = at->second.front();
  const auto& e = from.series()[first];
  return fmt::format(
      "{} has read exactly {} for more than 10 minutes while similar sensors moved{}: the sensor is stuck{}",
      shown(e.info), plain(decimal{watch_.stuck().at(first).value, e.info.exponent}),
      at->second.size() == 1 ? "" : fmt::format(", and {} more", at->second.size() - 1),
      what_ == on_frozen::absent ? " and counts as absent" : "");
}

}  // namespace binnacle::agent
