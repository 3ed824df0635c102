#include "aggregator/ops/power_json.hpp"

#include "aggregator/policy/power_terms.hpp"
#include "aggregator/predict/learning/estimate.hpp"
#include "aggregator/predict/rated.hpp"
#include "aggregator/store/hardware.hpp"

#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <optional>

namespace binnacle::ops {
namespace {

/// Writes the lowest and the highest load that the node has measured often enough.
void write_range(json_writer& out, const predict::statistics& measured) {
  std::optional<std::size_t> first, last;
  for (std::size_t b = 0; b < predict::statistics::bins; ++b) {
    if (measured.samples(b) < predict::least_samples) continue;
    if (!first) first = b;
    last = b;
  }
  if (!first) return;
  out.key("coveredFrom").figure(measured.load(*first), 2);
  out.key("coveredTo").figure(measured.load(*last), 2);
}

int percent_covered(const predict::model& m) { return static_cast<int>(100 * m.covered); }

void write_model(json_writer& out, const predict::model& m, std::optional<double> load, instant now) {
  out.begin_object().field("source", predict::to_string(m.from)).field("hardware", m.hardware);
  out.field("meter", m.meter).field("others", m.others);
  if (!m.server.empty())
    out.field("server", m.server).field("assumedInputs", std::popcount(m.inputs_assumed));
  out.field("coveredPercent", percent_covered(m));
  write_range(out, m.measured);
  const bool learned =
      m.from == predict::model_source::node || m.from == predict::model_source::hardware_class;
  if (learned) out.key("knownFrom").figure(m.known_from, 2).key("knownTo").figure(m.known_to, 2);
  out.key("noisePercent").figure(100 * m.noise, 1);
  out.field("samples", m.samples).field("outliers", m.outliers).field("meterStuck", m.meter_stuck);
  out.field("restarts", m.restarts);
  if (!m.restarted_for.empty()) out.field("restartedFor", m.restarted_for);
  out.field("ageSeconds", std::chrono::duration_cast<std::chrono::seconds>(now - m.made).count());
  out.key("cores").figure(m.power.cores(), 0);
  if (load) out.key("predictedWatts").figure(m.power.watts(*load * m.power.cores()), 1);
  out.key("curve").begin_array();
  const auto points = m.power.points();
  const bool in_bins = points.size() == predict::statistics::bins;
  for (std::size_t i = 0; i < points.size(); ++i) {
    out.begin_object();
    out.key("load").figure(static_cast<double>(i) / static_cast<double>(points.size() - 1), 2);
    out.key("watts").figure(points[i], 1);
    if (in_bins) out.field("samples", m.measured.samples(i));
    out.end_object();
  }
  out.end_array().end_object();
}

/// How many accelerators the node's meter measures, too. 0 also if nobody knows.
unsigned accelerators_in_watts(const store::row& cells, instant now) {
  const auto* const power = store::first_present(cells, policy::power_metric, now).series;
  const auto* const about = store::first_present(cells, "host_hardware_info", now).series;
  if (power == nullptr || about == nullptr) return 0;
  return store::accelerators_measured(metrics::label_of(power->labels, "source"), *about);
}

}  // namespace

std::string trouble_of_rated(const store::row& cells, instant now) {
  const auto idle = store::first_present(cells, policy::rated_idle_metric, now);
  const auto peak = store::first_present(cells, policy::rated_peak_metric, now);
  if (idle.series == nullptr && peak.series == nullptr) return {};
  if (idle.series == nullptr || peak.series == nullptr) {
    return fmt::format("{} is missing, or its value is no number",
                       idle.series == nullptr ? policy::rated_idle_metric : policy::rated_peak_metric);
  }
  const double cpus = store::first_present(cells, policy::cpus_metric, now).value;  // 0: not known now
  const auto line = predict::rated_line(idle.value, peak.value, cpus > 0 ? cpus : 1);
  return line.has_error() ? line.error().message : std::string();
}

void write_power(json_writer& out, const store::node_view& node, const policy::view& all, instant now) {
  const predict::model* known = model_of(all, node.id);
  const predict::model* learned = all.models().find(store::index(node.id));
  std::optional<double> load, watts;
  unsigned accelerators = 0;
  if (node.cells != nullptr) {
    const auto value_of = [&](std::string_view family) -> std::optional<double> {
      const auto found = store::first_present(*node.cells, family, now);
      return found.series == nullptr ? std::nullopt : std::optional(found.value);
    };
    load = value_of(policy::load_metric);
    watts = value_of(policy::power_metric);
    accelerators = accelerators_in_watts(*node.cells, now);
  }
  const std::string rated_trouble =
      known == nullptr && node.cells != nullptr ? trouble_of_rated(*node.cells, now) : std::string();
  out.begin_object().field("node", node.name);
  if (load) out.key("loadRatio").figure(*load, 4);
  if (watts) out.key("watts").figure(*watts, 1);
  if (accelerators > 0) out.field("acceleratorsInWatts", accelerators);
  if (!all.learned_counts()) out.field("onlyExternal", true);
  if (const auto note = all.served_note(store::index(node.id)); !note.empty())
    out.field("modelServerTrouble", note);
  const bool model_says_so = learned != nullptr && learned->meter_stuck;
  if (const auto note = all.learned_note(store::index(node.id)); !note.empty() && !model_says_so)
    out.field("meterTrouble", note);
  if (!rated_trouble.empty()) out.field("ratedTrouble", rated_trouble);
  out.key("model");
  if (known == nullptr) {
    out.null();
  } else {
    write_model(out, *known, load, now);
  }
  if (learned != nullptr && learned != known) {
    out.key("learned");
    write_model(out, *learned, load, now);
  }
  out.end_object();
}

const predict::model* model_of(const policy::view& all, store::node_id id) noexcept {
  const std::uint32_t at = store::index(id);
  for (const auto format : {policy::cpu_format::percent, policy::cpu_format::raw}) {
    if (const predict::model* served = all.served(format).find(at)) return served;
  }
  return all.models().find(at);
}

void write_model_in_short(json_writer& out, const predict::model& m) {
  out.begin_object().field("source", predict::to_string(m.from));
  out.field("coveredPercent", percent_covered(m));
  out.key("noisePercent").figure(100 * m.noise, 1).end_object();
}

}  // namespace binnacle::ops
