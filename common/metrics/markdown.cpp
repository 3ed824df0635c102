#include "common/metrics/plausible.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace binnacle::metrics {
namespace {

struct section {
  std::string_view source;
  std::string_view title;
  std::string_view text;
};

constexpr std::array sections{
    section{"rapl", "RAPL (`rapl_`)", "CPU power and energy from the kernel's powercap tree."},
    section{"bmc", "BMC (`bmc_`)",
            "Sensors of the baseboard management controller (IPMI, DCMI), read by the helper binnacle-ipmi."},
    section{"os", "Operating system (`os_`)", "From `/proc` and `/sys`."},
    section{"pmu", "Performance counters (`pmu_`)",
            "Through `perf_event_open`: events of the kernel, the CPUs and the memory controllers. With "
            "`pmu-per-cpu` those with the label `cpu` have a\nseries for each CPU, otherwise one without "
            "labels: the machine's sum."},
    section{"rdt", "Cache and memory bandwidth (`rdt_`)",
            "What groups of the resctrl filesystem use (Intel RDT, AMD QoS); `sources` must name `rdt`."},
    section{"host", "Composites (`host_`)", "The node's best figures, whatever it has to measure them with."},
    section{"textfile", "Text files (`textfile_`)",
            "About the `*.prom` files; the metrics in them keep their own names."},
    section{"scrape", "Exporters on the node (`binnacle_agent_scrape_`)",
            "About exporters that are read; their metrics keep their own names, and counters also get their "
            "rate: "
            "`x_total` gives\n`x_per_second`."},
    section{"path", "Network paths (`path_`)", "To the peers that `path` names, by active probes."},
    section{"agent", "The agent itself (`binnacle_agent_`)",
            "On the agent's scrape endpoint and, as a node's metrics, in the aggregator."},
    section{"aggregator", "The aggregator itself (`binnacle_`)", "On the aggregator's ops port only."},
};

constexpr std::string_view type_name(kind k) noexcept {
  switch (k) {
    case kind::gauge: return "gauge";
    case kind::counter: return "counter";
    case kind::histogram: return "histogram";
  }
  return "gauge";
}

constexpr std::string_view rule_name(node_rule r) noexcept {
  switch (r) {
    case node_rule::sole: return "the series";
    case node_rule::sum: return "sum";
    case node_rule::max: return "max";
    case node_rule::min: return "min";
    case node_rule::mean: return "mean";
    case node_rule::ratio_of_sums: return "ratio of sums";
  }
  return "the series";
}

std::string selector(std::string_view family, std::string_view label, std::string_view value) {
  if (label.empty()) return fmt::format("`{}`", family);
  return fmt::format("`{}{{{}=\"{}\"}}`", family, label, value);
}

std::string members(std::span<const member> those) {
  std::string out;
  for (const member& m : those) {
    if (!out.empty()) out += " + ";
    out += selector(m.family, m.label, m.value);
  }
  return out;
}

std::string node_number(const family& f) {
  if (f.source == "aggregator") return "";
  std::string out(rule_name(f.rule));
  if (f.rule == node_rule::ratio_of_sums)
    return fmt::format("{}: {} / {}", out, members(f.members), members(f.denominator));
  if (!f.members.empty()) out += fmt::format(": {}", members(f.members));
  return out;
}

std::string resolution(const family& f) {
  if (f.type == kind::histogram) return "";
  return f.exponent >= 0 ? fmt::format("1{:0<{}}", "", f.exponent) : fmt::format("0.{:0>{}}", 1, -f.exponent);
}

/// The range of possible values: "0 to 100000", "from 0", or nothing if any value is possible.
std::string can_be(const family& f) {
  if (f.type == kind::histogram || f.source == "aggregator") return "";
  const plausible_range r = plausible(f);
  if (std::isinf(r.least)) return "";
  return std::isinf(r.most) ? fmt::format("from {}", plain(r.least))
                            : fmt::format("{} to {}", plain(r.least), plain(r.most));
}

std::string labels(const family& f) {
  std::string out;
  for (std::string_view l : f.labels) out += fmt::format("{}`{}`", out.empty() ? "" : ", ", l);
  return out;
}

/// The aliases of a family. A form without prometheus-adapter's "node_" prefix is only in the table of all
/// old names, below.
std::string old_names(const family& f) {
  std::string out;
  for (const alias& a : aliases()) {
    const auto with_prefix = [&](const alias& b) { return b.name == fmt::format("node_{}", a.name); };
    if (a.family != f.name || std::ranges::any_of(aliases(), with_prefix)) continue;
    out += fmt::format("{}`{}`", out.empty() ? "" : ", ", a.name);
  }
  return out;
}

void print_section(std::string& out, const section& s) {
  auto to = std::back_inserter(out);
  fmt::format_to(to, "\n## {}\n\n{}\n\n", s.title, s.text);
  out +=
      "| name | type | labels | unit | resolution | can be | a node's number | meaning | needs | old names "
      "|\n|---|---|---|---|---|---|---|---|---|---|\n";
  for (const family& f : families()) {
    if (f.source != s.source) continue;
    fmt::format_to(to, "| `{}` | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", f.name, type_name(f.type),
                   labels(f), f.unit, resolution(f), can_be(f), node_number(f), f.help, f.privilege,
                   old_names(f));
  }
}

std::string value_of(const alias& a) {
  std::string out = selector(a.family, a.label, a.value);
  if (a.scale != 1) out += fmt::format(" × {}", a.scale);
  if (a.offset != 0)
    out += fmt::format(" {} {}", a.offset < 0 ? "-" : "+", a.offset < 0 ? -a.offset : a.offset);
  return out;
}

std::string rule_of(const alias& a) {
  std::string out = a.rule ? std::string(rule_name(*a.rule)) : "as the family";
  if (a.window.count() != 0) out += fmt::format(", mean over {} s", a.window.count());
  return out;
}

}  // namespace

std::string markdown() {
  std::string out =
      "<!-- Generated from common/metrics: do not edit. Print it again with: build/common/metrics/metrics_md "
      "> METRICS.md -->\n# Metrics\n\nEvery metric that Binnacle emits, under the one name that policies, "
      "the custom metrics API, `/metrics` and the CLI use.\n\n- **Resolution**: values are whole multiples "
      "of it; rules compare exactly these numbers.\n- **Can be**: a value outside is a broken sensor or a "
      "lie, so "
      "`scheduleonmetric` takes it as none. The bounds are wide enough for any real machine.\n- **A node's "
      "number**: a `TASPolicy` rule names a metric "
      "without a selector, so the series of a node become one number. A sum is\n  absent if any member is "
      "absent. A maximum, minimum or mean uses the members that have values, and is then marked `partial`. "
      "The\n  number is as old as its oldest member. Of a user's or exporter's gauge with several series the "
      "largest counts, of a counter the sum.\n- **One series** has a flat name: the metric plus its "
      "label values, in lower case, with runs of other characters as `_`. For\n  "
      "`rapl_power_watts{package=\"0\"}` it is `rapl_power_watts_0`. A series of a CPU or a pod has none. "
      "The custom metrics API also takes a label selector.\n- **Stale** is a value older than 10 s or three "
      "read periods, whichever is longer: "
      "it then counts as absent everywhere.\n- **Needs** is the privilege beyond reading world-readable "
      "files.\n- A histogram `x` is the usual `x_bucket{le}`, `x_sum`, `x_count`.\n";
  for (const section& s : sections) print_section(out, s);

  out +=
      "\n## Old names\n\n"
      "These go on working in policies and the custom metrics API. `<N>` and `<M>` are numbers. A metric of "
      "yours that is called\n"
      "`node_x` is also found as `x`, as prometheus-adapter serves it. A metric of yours that really has one "
      "of these "
      "names wins, at the\n"
      "nodes that have it; not if an exporter gives it where the agent measures the same itself. Names of "
      "your own: the "
      "aggregator's `--aliases` (aggregator/policy/README.md).\n\n"
      "| old name | is | a node's number | comes from |\n|---|---|---|---|\n";
  for (const alias& a : aliases()) {
    fmt::format_to(std::back_inserter(out), "| `{}` | {} | {} | {} |\n", a.name, value_of(a), rule_of(a),
                   a.note);
  }
  return out;
}

}  // namespace binnacle::metrics
