#include "cli/views/top.hpp"

#include "cli/views/nodes.hpp"
#include "cli/views/table.hpp"
#include "cli/views/units.hpp"
#include "common/metrics/family_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace binnacle::cli {
namespace {

constexpr std::size_t most_policies = 4;  // policies with a column; WHY tells of the others

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

colour ink_of(std::string_view state) {
  return state == "violating" ? colour::red : badness(state) > 0 ? colour::yellow : colour::green;
}

void add_verdicts(std::vector<table::cell>& row, node_verdicts verdicts, bool columns) {
  if (columns) {
    for (const standing& s : verdicts.of)
      row.push_back({s.dry ? "(" + s.state + ")" : s.state, s.dry ? colour::dim : ink_of(s.state)});
  }
  row.push_back({std::move(verdicts.why), colour::dim});
}

bool has_value(const json::value& node, const std::string& metric) {
  const json::value* v = value_of(node, metric);
  return v != nullptr && number(*v, "value");
}

}  // namespace

std::vector<std::string> metrics_without_value(const json::value& nodes, std::vector<std::string> wanted) {
  std::erase_if(wanted, [&](const std::string& name) {
    return std::ranges::any_of(list(nodes, "nodes"),
                               [&](const json::value& n) { return has_value(n, name); });
  });
  return wanted;
}

std::string without_value_words(const std::string& metric) {
  const std::string_view near = metrics::nearest_name(metric);
  return fmt::format("no node has a value of {}{}", metric,
                     near.empty() || near == metric ? "" : fmt::format(": did you mean {}?", near));
}

std::string render_top(const json::value& nodes, const std::string& url,
                       const std::vector<std::string>& wanted, const paint& with) {
  const auto metrics = choose_metrics(nodes, wanted);
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

  bool partial = false;
  std::vector<std::string> lacking;
  for (const json::value* of : order) {
    const json::value& n = *of;
    const bool up = flag(n, "connected");
    const auto lacks = lacks_of(n);
    lacking.insert(lacking.end(), lacks.begin(), lacks.end());
    std::vector<table::cell> row{{text(n, "name") + (!up             ? " (down)"
                                                     : lacks.empty() ? ""
                                                                     : " (in part)"),
                                  up ? colour::bold : colour::yellow}};
    for (const auto& m : metrics) partial |= add_value(row, value_of(n, m.name), m.unit);
    if (!policies.empty()) add_verdicts(row, verdicts_of(n, policies, metrics), columns);
    t.row(std::move(row));
  }

  const std::int64_t total = integer(nodes, "total");
  std::string out =
      fmt::format("{}  {}  {} of {} connected  {}\n\n", with(colour::bold, "binnacle top"),
                  text(nodes, "time"), connected, counted(total, "node"), with(colour::dim, url));
  if (order.empty())
    return out + "no node has connected yet: start binnacle-agent with --aggregator pointing here\n";
  for (const auto& line : t.lines(with)) out += line + '\n';
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
    out += with(colour::yellow, line) + '\n';
  }
  for (const std::string& name : metrics_without_value(nodes, wanted))
    out += with(colour::yellow, without_value_words(name)) + '\n';
  const std::int64_t hidden = total - static_cast<std::int64_t>(order.size());
  if (hidden > 0) out += with(colour::dim, fmt::format("and {} more", counted(hidden, "node"))) + '\n';
  if (const std::int64_t omitted = integer(nodes, "strategiesOmitted"); omitted > 0)
    out += with(colour::yellow, verdicts_left_out_words(omitted) + " (binnacle policy list)") + '\n';
  return out;
}

}  // namespace binnacle::cli
