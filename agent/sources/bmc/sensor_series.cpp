#include "agent/sources/bmc/sensor_series.hpp"

#include "agent/sources/bmc/reading_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace binnacle::agent {
namespace {

using ipmi::sensor_kind;
using ipmi::sensor_role;

duration period_of(std::uint32_t ms) { return std::chrono::milliseconds(ms); }

bool at_or_above(double value, const std::optional<double>& limit) { return limit && value >= *limit; }
bool at_or_below(double value, const std::optional<double>& limit) { return limit && value <= *limit; }

metrics::label_set labels_of(const sensor_name& n) {
  return {{"sensor", n.sensor}, {"entity", n.entity}, {"id", n.id}};
}

metrics::label_set labels_with(const sensor_name& n, std::string label, std::string value) {
  return {{"sensor", n.sensor}, {std::move(label), std::move(value)}, {"entity", n.entity}, {"id", n.id}};
}

}  // namespace

int severity_of(const ipmi::thresholds& t, double value) noexcept {
  if (at_or_above(value, t.upper_critical) || at_or_above(value, t.upper_non_recoverable) ||
      at_or_below(value, t.lower_critical) || at_or_below(value, t.lower_non_recoverable)) {
    return 2;
  }
  return at_or_above(value, t.upper_non_critical) || at_or_below(value, t.lower_non_critical) ? 1 : 0;
}

void sensor_series::announce(const bmc_snapshot& from, board& out) {
  const bool anew = inventory_ != from.inventories();
  inventory_ = from.inventories();
  std::map<std::string, const ipmi::sensor*> there;
  for (const auto& s : from.sensors()) there.emplace(s.key, &s);
  std::erase_if(sensors_, [&](auto& known) {
    auto& [key, e] = known;
    const auto at = there.find(key);
    const bool stays = from.plan().contains(key) && at != there.end();
    if (!stays) out.remove_group(e.group);
    return !stays;
  });

  const auto names = names_of(from.sensors());
  const auto scopes = power_scopes(from.sensors());
  const auto scope_of = [&scopes](const std::string& key) {
    const auto at = scopes.find(key);
    return at == scopes.end() ? std::string_view("part") : at->second;
  };
  for (const auto& [key, period_ms] : from.plan()) {
    const auto at = there.find(key);
    if (at == there.end()) continue;
    const auto known = sensors_.find(key);
    if (known != sensors_.end()) {
      auto& e = known->second;
      if (!anew) {
        // A plan's periods follow how long reads took, in small steps. Ignore a small step to a shorter
        // period: only a longer period could make values stale.
        if (period_ms > e.period_ms || period_ms < e.period_ms / 2) {
          e.period_ms = period_ms;
          out.set_period(e.group, period_of(period_ms), metrics::stale_after(period_of(period_ms)));
        }
        continue;
      }
      // The inventory is new, so thresholds, names or roles may be different.
      auto fresh = make(*at->second, names.at(key), period_ms, scope_of(key), out);
      if (!fresh.same_series(e)) {
        out.remove_group(e.group);
        fresh = make(*at->second, names.at(key), period_ms, scope_of(key), out);
      } else {
        fresh.states = std::move(e.states);
        fresh.statistics = e.statistics;
        fresh.outside_since = e.outside_since;
        fresh.statistics_doubted = e.statistics_doubted;
        fresh.doubted = e.doubted;
      }
      e = std::move(fresh);
      continue;
    }
    sensors_.emplace(key, make(*at->second, names.at(key), period_ms, scope_of(key), out));
  }
}

sensor_series::entry sensor_series::make(const ipmi::sensor& s, sensor_name name, std::uint32_t period_ms,
                                         std::string_view scope, board& out) {
  entry e;
  e.about = s;
  e.period_ms = period_ms;
  e.group = out.add_group("bmc", s.key, period_of(period_ms), metrics::stale_after(period_of(period_ms)));
  out.set_period(e.group, period_of(period_ms), metrics::stale_after(period_of(period_ms)));
  const std::string family(family_of(s));
  if (s.key == "chassis.power") {
    // One answer of Get Chassis Status gives several states. The most important ones have families of their
    // own.
    for (const auto& [word, own] : {std::pair("on", "bmc_chassis_power_on"),
                                    {"cooling fault", "bmc_chassis_cooling_fault"},
                                    {"drive fault", "bmc_chassis_drive_fault"}}) {
      e.states.emplace(word, out.add_series(e.group, own, {}));
    }
    e.name = std::move(name);
    return e;
  }
  if (metrics::find(family)->labels.empty()) {
    e.value = out.add_series(e.group, family, {});
    e.name = std::move(name);
    return e;
  }
  auto labels = labels_of(name);
  if (family == "bmc_power_watts") {
    labels.emplace_back("scope", scope);
    e.value = out.add_series(e.group, family, std::move(labels));
  } else if (s.kind != sensor_kind::state) {
    e.value = out.add_series(e.group, family, std::move(labels));
  }
  if (s.role == sensor_role::inlet && s.kind == sensor_kind::temperature) {
    e.role = out.add_series(e.group, "bmc_inlet_temperature_celsius", labels_of(name));
  }
  if (s.role == sensor_role::cpu && s.kind == sensor_kind::temperature) {
    e.role = out.add_series(e.group, "bmc_cpu_temperature_celsius", labels_of(name));
  }
  if (s.kind != sensor_kind::state && s.limits != ipmi::thresholds{}) {
    e.severity = out.add_series(e.group, "bmc_sensor_state",
                                labels_with(name, "kind", std::string(ipmi::to_string(s.kind))));
  }
  if (s.kind == sensor_kind::temperature) {
    for (const auto& [threshold, limit] : {std::pair("non_critical", s.limits.upper_non_critical),
                                           {"critical", s.limits.upper_critical},
                                           {"non_recoverable", s.limits.upper_non_recoverable}}) {
      if (!limit) continue;
      e.margins.push_back({*limit, out.add_series(e.group, "bmc_temperature_margin_celsius",
                                                  labels_with(name, "threshold", threshold))});
    }
  }
  e.name = std::move(name);
  return e;
}

void sensor_series::show(const ipmi::reading& r, instant now, board& out) {
  const auto at = sensors_.find(r.key);
  if (at == sensors_.end()) return;
  auto& e = at->second;
  const auto why = reason_of(e.about, r);
  e.doubted = why == absence::implausible;
  if (why != absence::none) {
    const auto all = {e.value, e.role, e.severity};
    for (const auto s : all) out.set_absent(s, why);
    for (const auto& m : e.margins) out.set_absent(m.series, why);
    for (const auto& [word, s] : e.states) out.set_absent(s, why);
    const auto& over = e.statistics;
    for (const auto s : {over.minimum, over.average, over.maximum, over.window}) out.set_absent(s, why);
    return;
  }
  if (e.value != board::no_series) {
    if (r.value) show_value(e, *r.value, out);
    if (e.about.key == "dcmi.power" && r.value) show_statistics(e, r, now, out);
  } else {
    show_states(e, r.words, out);
  }
  out.mark_read(e.group, std::min(now, from_ns(r.read_at_ns)));
}

std::string sensor_series::doubted() const {
  std::vector<const ipmi::sensor*> impossible;
  for (const auto& [key, e] : sensors_)
    if (e.doubted) impossible.push_back(&e.about);
  if (!impossible.empty()) return fmt::format("{}; {}", impossible_said(impossible), impossible_remedy);
  for (const auto& [key, e] : sensors_)
    if (e.statistics_doubted) return fmt::format("{}: {}", e.about.name, outside_said);
  return {};
}

void sensor_series::show_value(entry& e, double value, board& out) {
  out.set(e.value, e.about.unit == "percent" && e.about.kind == sensor_kind::fan ? value / 100 : value);
  out.set(e.role, value);
  if (e.severity != board::no_series) {
    out.set(e.severity, std::int64_t{severity_of(e.about.limits, value)});
  }
  for (const auto& m : e.margins) out.set(m.series, m.threshold - value);
}

// Statistics may be of the last whole window, so after a step of the load the value lies outside of them for
// one window.
void sensor_series::show_statistics(entry& e, const ipmi::reading& r, instant now, board& out) {
  constexpr duration longest_lag = std::chrono::minutes(10);
  auto& s = e.statistics;
  const auto& over = r.over;
  if (!over || !lies_outside(*r.value, *over)) {
    e.outside_since.reset();
  } else if (!e.outside_since) {
    e.outside_since = now;
  }
  e.statistics_doubted =
      over &&
      (contradict_each_other(*over) ||
       (e.outside_since && now - *e.outside_since >= std::min(period_of(over->window_ms), longest_lag)));
  if (!over || e.statistics_doubted) {
    const auto why = over ? absence::implausible : absence::no_data;
    for (const auto one : {s.minimum, s.average, s.maximum, s.window}) out.set_absent(one, why);
    return;
  }
  if (s.window == board::no_series) {
    s.minimum = out.add_series(e.group, "bmc_dcmi_minimum_power_watts", {});
    s.average = out.add_series(e.group, "bmc_dcmi_average_power_watts", {});
    s.maximum = out.add_series(e.group, "bmc_dcmi_maximum_power_watts", {});
    s.window = out.add_series(e.group, "bmc_dcmi_window_seconds", {});
  }
  out.set(s.minimum, over->minimum);
  out.set(s.average, over->average);
  out.set(s.maximum, over->maximum);
  out.set(s.window, over->window_ms / 1e3);
}

void sensor_series::show_states(entry& e, const std::vector<std::string>& words, board& out) {
  for (const auto& word : words) {
    if (e.states.contains(word) || e.states.size() >= ipmi::max_words) continue;
    if (e.about.key == "chassis.power" && word == "off") continue;  // on, the other way round
    e.states.emplace(word, out.add_series(e.group, "bmc_state_asserted", labels_with(e.name, "state", word)));
  }
  for (const auto& [word, s] : e.states) {
    out.set(s, std::int64_t{std::find(words.begin(), words.end(), word) != words.end() ? 1 : 0});
  }
}

}  // namespace binnacle::agent
