#include "cli/views/top.hpp"

#include "aggregator/policy/text/problem.hpp"
#include "cli/views/table.hpp"
#include "cli/views/units.hpp"
#include "common/metrics/catalog.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace binnacle::cli {
namespace {

constexpr std::size_t most_policies = 4;  // columns; more are told in WHY alone
constexpr std::size_t most_reasons = 3;   // in WHY

struct shown_metric {
  std::string name, unit, title;
};

bool is_asked_for(std::string_view name, const std::vector<std::string>& wanted) {
  return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

/// Power, temperature and CPU under short names, in that order, then what was asked for. What the server adds
/// because a policy watches it is left to the policy's column.
std::vector<shown_metric> choose(const json::value& nodes, const std::vector<std::string>& wanted) {
  std::vector<shown_metric> chosen;
  const auto first = [&](std::string_view unit, std::string_view part, const char* title) {
    for (const auto& m : list(nodes, "metrics")) {
      const std::string name = text(m, "name");
      if (text(m, "unit") != unit || name.find(part) == std::string::npos || is_asked_for(name, wanted))
        continue;
      chosen.push_back({name, std::string(unit), title});
      return;
    }
  };
  first("watts", "power_watts", "POWER");
  first("celsius", "temperature", "TEMP");
  first("ratio", "cpu_utilization", "CPU");
  for (const std::string& name : wanted) {
    std::string unit;
    for (const auto& m : list(nodes, "metrics")) {
      if (text(m, "name") == name) unit = text(m, "unit");
    }
    chosen.push_back({name, unit, name});
  }
  return chosen;
}

const json::value* value_of(const json::value& node, const std::string& metric) {
  const json::value* values = member(node, "values");
  return values == nullptr ? nullptr : member(*values, metric);
}

/// The value and its age, or "-" and why. True when some members of the value are missing.
bool add_value(std::vector<table::cell>& row, const json::value* v, const std::string& unit) {
  const auto number = v == nullptr ? std::nullopt : cli::number(*v, "value");
  const std::int64_t age_ms = v == nullptr ? -1 : integer(*v, "ageMs", -1);
  if (number) {
    const bool partial = flag(*v, "partial");
    row.push_back({with_unit(*number, unit) + (partial ? "*" : "")});
    row.push_back({age_ms < 0 ? "" : age(age_ms), colour::dim});
    return partial;
  }
  const std::string reason = v == nullptr ? "" : reason_words(text(*v, "absent"));
  row.push_back({"-", colour::yellow});
  row.push_back({age_ms < 0 ? reason : reason + " " + age(age_ms), colour::yellow});
  return false;
}

/// Worse states first.
int severity(std::string_view state) {
  static constexpr std::string_view order[] = {"violating", "missing", "held", "frozen"};
  const auto at = std::find(std::begin(order), std::end(order), state);
  return at == std::end(order) ? 0 : static_cast<int>(std::end(order) - at);
}

colour ink_of(std::string_view state) {
  return state == "violating" ? colour::red : severity(state) > 0 ? colour::yellow : colour::green;
}

std::string short_name(const std::string& policy) {
  return policy.starts_with("default/") ? policy.substr(8) : policy;
}

std::vector<std::string> policies_of(const json::value& nodes) {
  std::vector<std::string> names;
  for (const auto& n : list(nodes, "nodes")) {
    for (const auto& v : list(n, "verdicts")) {
      const std::string name = text(v, "policy");
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// ", now 71.4": the value of the metric that a rule compares, unless a column shows it.
std::string value_of_rule(const json::value& node, const std::string& rule,
                          const std::vector<shown_metric>& metrics) {
  const std::string metric = rule.substr(0, rule.find(' '));
  if (std::ranges::find(metrics, metric, &shown_metric::name) != metrics.end()) return {};
  const json::value* v = value_of(node, metric);
  const auto now = v == nullptr ? std::nullopt : number(*v, "value");
  return now ? ", now " + plain(*now) : std::string();
}

void add_verdicts(std::vector<table::cell>& row, const json::value& node,
                  const std::vector<std::string>& policies, const std::vector<shown_metric>& metrics,
                  bool columns) {
  std::string why;
  std::size_t reasons = 0;
  for (const std::string& policy : policies) {
    std::string worst = "pass";
    bool dry = false;
    for (const auto& v : list(node, "verdicts")) {
      if (text(v, "policy") != policy) continue;
      dry = text(v, "mode") == "DryRun";
      const std::string state = text(v, "state");
      if (severity(state) > severity(worst)) worst = state;
      const json::value thin = object(v, "uncovered");
      const std::string rule = text(thin, "rule").empty() ? text(v, "rule") : text(thin, "rule");
      const bool covered = text(thin, "rule").empty();
      if ((severity(state) > 0 || !covered) && ++reasons <= most_reasons) {
        why += fmt::format(
            "{}{}{}: {}{}{}", why.empty() ? "" : "; ", policies.size() == 1 ? "" : short_name(policy) + " ",
            text(v, "strategy"), rule, value_of_rule(node, rule, metrics),
            covered ? "" : fmt::format(", values for {} % of the window", integer(thin, "windowCovered")));
      }
    }
    if (columns) row.push_back({dry ? "(" + worst + ")" : worst, dry ? colour::dim : ink_of(worst)});
  }
  if (reasons > most_reasons) why += fmt::format("; and {} more", reasons - most_reasons);
  row.push_back({why, colour::dim});
}

/// "node-b rapl: why" for each source of a connected node that cannot be read, or works in part; before them
/// what is odd about the node.
std::vector<std::string> lacks_of(const json::value& node) {
  std::vector<std::string> lacks;
  if (!flag(node, "connected")) return lacks;
  if (auto odd = text(node, "warning"); !odd.empty()) lacks.push_back(std::move(odd));
  for (const auto& s : list(node, "sources")) {
    const std::string why = text(s, "message");
    if (!flag(s, "ok") || !why.empty())
      lacks.push_back(fmt::format("{} {}: {}", text(node, "name"), text(s, "source"), why));
  }
  return lacks;
}

bool has_value(const json::value& node, const std::string& metric) {
  const json::value* v = value_of(node, metric);
  return v != nullptr && number(*v, "value");
}

/// What a metric's name was probably meant to be.
std::string_view nearest_metric(const std::string& name) {
  std::vector<std::string_view> names;
  for (const metrics::family& f : metrics::catalog()) names.push_back(f.name);
  for (const metrics::alias& a : metrics::aliases()) names.push_back(a.name);
  return policy::nearest(name, names);
}

}  // namespace

std::vector<std::string> metrics_without_value(const json::value& nodes, std::vector<std::string> wanted) {
  std::erase_if(wanted, [&](const std::string& name) {
    return std::ranges::any_of(list(nodes, "nodes"),
                               [&](const json::value& n) { return has_value(n, name); });
  });
  return wanted;
}

std::string render_top(const json::value& nodes, const std::string& url, const top_layout& layout,
                       const paint& with) {
  const auto metrics = choose(nodes, layout.metrics);
  const auto policies = policies_of(nodes);
  const bool columns = policies.size() <= most_policies;

  std::vector<const json::value*> order;
  std::int64_t connected = 0;
  for (const auto& n : list(nodes, "nodes")) {
    order.push_back(&n);
    connected += flag(n, "connected") ? 1 : 0;
  }
  const auto rank = [&](const json::value* n) {
    const json::value* v = metrics.empty() ? nullptr : value_of(*n, metrics.front().name);
    return (v == nullptr ? std::nullopt : number(*v, "value"))
        .value_or(-std::numeric_limits<double>::infinity());
  };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return rank(a) > rank(b); });

  table t;
  t.column("NODE");
  for (const auto& m : metrics) {
    t.column(m.title, align::right);
    t.column("AGE", align::left, 1);
  }
  if (columns) {
    for (const auto& p : policies) t.column(short_name(p));
  }
  if (!policies.empty()) t.column("WHY");

  // Two lines above the table, its header, and below it those that explain marks or say what is left out.
  const bool any_lack = std::ranges::any_of(order, [](const auto* n) { return !lacks_of(*n).empty(); });
  const std::size_t others = any_lack ? 6 : 5;
  const std::size_t room = layout.height > others ? layout.height - others
                           : layout.height == 0   ? order.size()
                                                  : 1;
  const std::size_t shown = std::min(order.size(), room);
  bool partial = false;
  std::vector<std::string> lacking;
  for (std::size_t i = 0; i < shown; ++i) {
    const json::value& n = *order[i];
    const bool up = flag(n, "connected");
    const auto lacks = lacks_of(n);
    lacking.insert(lacking.end(), lacks.begin(), lacks.end());
    std::vector<table::cell> row{{text(n, "name") + (!up             ? " (down)"
                                                     : lacks.empty() ? ""
                                                                     : " (in part)"),
                                  up ? colour::bold : colour::yellow}};
    for (const auto& m : metrics) partial |= add_value(row, value_of(n, m.name), m.unit);
    if (!policies.empty()) add_verdicts(row, n, policies, metrics, columns);
    t.row(std::move(row));
  }

  const std::int64_t total = integer(nodes, "total");
  std::string out =
      fmt::format("{}  {}  {} of {} connected  {}\n\n", with(colour::bold, "binnacle top"),
                  text(nodes, "time"), connected, counted(total, "node"), with(colour::dim, url));
  if (order.empty())
    return out + "no node has connected yet: start binnacle-agent with --aggregator pointing here\n";
  for (const auto& line : t.lines(with, layout.width)) out += line + '\n';
  if (partial)
    out += with(colour::dim,
                "* in part: some members have no value, or the values cover less than 80 % of a window") +
           '\n';
  if (!lacking.empty()) {
    const std::string more =
        lacking.size() == 1 ? ""
                            : fmt::format(" (and {}: binnacle status)",
                                          counted(static_cast<std::int64_t>(lacking.size()) - 1, "source"));
    const std::string line = "in part: " + lacking.front() + more;
    out += with(colour::yellow, layout.width == 0 ? line : shortened(line, layout.width)) + '\n';
  }
  for (const std::string& name : metrics_without_value(nodes, layout.metrics)) {
    const std::string_view near = nearest_metric(name);
    out += with(colour::yellow,
                fmt::format("no node has a value of {}{}", name,
                            near.empty() || near == name ? "" : fmt::format(": did you mean {}?", near))) +
           '\n';
  }
  const std::int64_t hidden = total - static_cast<std::int64_t>(shown);
  if (hidden > 0) out += with(colour::dim, fmt::format("and {} more", counted(hidden, "node"))) + '\n';
  return out;
}

}  // namespace binnacle::cli
