#include "aggregator/outliers/power_outliers.hpp"

#include "aggregator/store/hardware.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace binnacle::aggregator {
namespace {

// 0 W has no logarithm. So it counts as 0.1 W, the step to which watts are rounded.
double log_of(double watts) { return std::log(std::max(watts, 0.1)); }

// How much of the machine a source measures: a part that lies within another one has the lower number. The
// parts themselves come from agent/sources/host/ways.cpp. 0: nobody knows.
int reach_of(std::string_view source) {
  const auto part = store::part_measured(source);
  return part == "processors" ? 1 : part == "platform" ? 2 : part == "machine" ? 3 : 0;
}

std::string known_part(std::string_view source) {
  return fmt::format("the {} ({})", store::part_measured(source), source);
}

}  // namespace

std::optional<power_reading> power_of(const store::node_view& node, instant now) {
  if (!node.connected || node.cells == nullptr) return std::nullopt;
  const auto power = store::first_present(*node.cells, "host_power_watts", now);
  std::string machine = store::machine_of(*node.cells, now);
  if (power.series == nullptr || machine.empty()) return std::nullopt;
  // An agent that does not say its number of CPUs is compared with others of its kind.
  const auto cpus = store::first_present(*node.cells, "os_cpus", now);
  if (cpus.series != nullptr) machine = store::with_cpus(std::move(machine), cpus.value);
  power_reading r{node.name, std::move(machine), power.value, std::nullopt,
                  std::string(metrics::label_of(power.series->labels, "source"))};
  if (const auto load = store::first_present(*node.cells, "os_cpu_utilization_ratio", now);
      load.series != nullptr)
    r.load = load.value;
  return r;
}

power_outliers::usual power_outliers::usual_of(const group& nodes) const {
  std::vector<double> logs, loads;
  for (const auto* r : nodes) {
    logs.push_back(log_of(r->watts));
    if (r->load) loads.push_back(*r->load);
  }
  std::ranges::sort(logs);
  std::ranges::sort(loads);
  const auto out = std::max<std::size_t>(
      1, static_cast<std::size_t>(settings_.left_out * static_cast<double>(logs.size())));
  return {logs[out], logs[logs.size() - 1 - out],
          loads.empty() ? std::nullopt : std::optional(loads[loads.size() / 2]),
          reach_of(nodes.front()->source)};
}

bool power_outliers::is_far(const power_reading& r, const usual& of_class, double bound) const {
  const double here = log_of(r.watts), far = bound * std::log(settings_.factor);
  const bool above = here >= of_class.most + far;
  if (!above && here > of_class.least - far) return false;
  // Who measures more of the machine may say more, and who measures less of it may say less.
  const int measures_more = reach_of(r.source) - of_class.reach;
  if (above ? measures_more > 0 : measures_more < 0) return false;
  if (!r.load || !of_class.load) return true;
  const double more_load = *r.load - *of_class.load;
  return std::abs(more_load) < settings_.load_apart || (more_load > 0) != above;
}

bool power_outliers::lasted(const std::string& node, instant now, const doubts& before, doubts& after) const {
  const auto known = before.find(node);
  const instant since = known == before.end() ? now : known->second.since;
  after[node] = doubt{since, now};
  return now - since >= settings_.lasting;
}

void power_outliers::pause(doubts before, std::span<const power_reading> all, instant now,
                           doubts& after) const {
  for (const auto& r : all) before.erase(r.node);
  for (const auto& [node, d] : before)
    if (now - d.last <= settings_.longest_pause)
      after.emplace(node, doubt{d.since + (now - last_look_), d.last});
}

void power_outliers::look(std::span<const power_reading> all, instant now) {
  std::map<std::string_view, group> alike;
  for (const auto& r : all) alike[r.hardware].push_back(&r);
  findings next;
  for (const auto& [hardware, nodes] : alike) {
    std::map<std::string_view, group> by_source, by_part;
    for (const auto* r : nodes) {
      by_source[r->source].push_back(r);
      if (const auto part = store::part_measured(r->source); !part.empty()) by_part[part].push_back(r);
    }
    for (const auto& [source, members] : by_source) name_far(members, members, {}, now, next);
    if (by_source.size() == 1) continue;  // the parts would be the same class again
    for (const auto& [part, members] : by_part) {
      // If two parts contradict each other, nobody knows which one is wrong. The fewer are named.
      for (const auto& [other, judged] : by_part)
        if (other == part || judged.size() < members.size()) name_far(judged, members, part, now, next);
    }
  }
  name_other_ways(alike, now, next);
  pause(std::move(found_.far), all, now, next.far);
  pause(std::move(found_.other_way), all, now, next.other_way);
  found_ = std::move(next);
  last_look_ = now;
}

void power_outliers::name_far(const group& judged, const group& of_class, std::string_view part, instant now,
                              findings& next) const {
  if (of_class.size() < settings_.least_class) return;
  const auto range = usual_of(of_class);
  for (const auto* r : judged) {
    if (next.named.contains(r->node)) continue;
    const auto known = found_.named.find(r->node);
    const bool was_far = known != found_.named.end() && known->second.usual_source.empty() &&
                         known->second.source == r->source;
    if (!is_far(*r, range, was_far ? settings_.comes_back : 1)) continue;
    if (!lasted(r->node, now, found_.far, next.far)) continue;
    if (was_far) {
      next.named.insert(*known);
      continue;
    }
    const std::string way =
        part.empty() ? r->source : fmt::format("meters of the {}; this node's is {}", part, r->source);
    const bool same_part = reach_of(r->source) == range.reach;
    next.named.emplace(r->node,
                       power_outlier{r->watts,
                                     std::exp(range.least),
                                     std::exp(range.most),
                                     of_class.size() - (same_part ? 1 : 0),
                                     way.empty() ? r->hardware : fmt::format("{}, by {}", r->hardware, way),
                                     r->source,
                                     {},
                                     !same_part});
  }
}

void power_outliers::name_other_ways(const std::map<std::string_view, group>& alike, instant now,
                                     findings& next) const {
  for (const auto& [hardware, nodes] : alike) {
    std::map<std::string_view, std::size_t> counts;
    for (const auto* r : nodes)
      if (!store::part_measured(r->source).empty()) ++counts[store::part_measured(r->source)];
    const auto usual = std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; });
    if (usual == counts.end() || usual->second < settings_.least_class) continue;
    const auto most_others = settings_.other_way * static_cast<double>(nodes.size());
    if (static_cast<double>(nodes.size() - usual->second) > most_others) continue;  // a mixed fleet
    const auto* example = *std::ranges::find(nodes, usual->first,
                                             [](const auto* r) { return store::part_measured(r->source); });
    for (const auto* r : nodes) {
      const auto part = store::part_measured(r->source);
      if (part.empty() || part == usual->first || next.named.contains(r->node)) continue;
      if (!lasted(r->node, now, found_.other_way, next.other_way)) continue;
      // The watts stay those of the first time, so that the sentence does not change at each look.
      const auto known = found_.named.find(r->node);
      const bool same = known != found_.named.end() && known->second.source == r->source;
      next.named.emplace(r->node, power_outlier{same ? known->second.watts : r->watts, 0, 0, usual->second,
                                                std::string(hardware), r->source, example->source, false});
    }
  }
}

std::string sentence_of(const std::string& node, const power_outlier& o) {
  if (!o.usual_source.empty()) {
    return fmt::format(
        "node {}: host_power_watts is that of {}, {:.1f} W, but {} similar nodes ({}) give that of {}: the "
        "two cannot be compared, and who measures less wins by lowest watts; run `binnacle doctor` there to "
        "see why its other source has no value",
        node, known_part(o.source), o.watts, o.others, o.hardware, known_part(o.usual_source));
  }
  return fmt::format(
      "node {}: host_power_watts says {:.1f} W, but {:.1f} to {:.1f} W are usual for the {} similar nodes "
      "({}): {}; run `binnacle doctor` there, and look at the sensor with the BMC's own tools",
      node, o.watts, o.least, o.most, o.others, o.hardware,
      o.other_part ? "its sensor or theirs are wrong, since no machine draws less than its processors"
                   : "its sensor is wrong, or the machine is not like the others");
}

}  // namespace binnacle::aggregator
