#include "cli/views/why.hpp"

#include "aggregator/policy/comparison.hpp"
#include "cli/views/power.hpp"
#include "cli/views/table.hpp"
#include "cli/views/units.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace binnacle::cli {
namespace {

std::string pod_name(const json::value& record) {
  const json::value pod = object(record, "pod");
  return text(pod, "namespace") + "/" + text(pod, "name");
}

std::string digits(const json::value& v, std::string_view key) {
  const auto n = number(v, key);
  return n ? plain(*n) : std::string();
}

colour ink_of_verdict(std::string_view verdict) {
  if (verdict.starts_with("refused")) return colour::red;
  if (verdict == "unknown" || verdict == "unscored") return colour::yellow;
  return colour::green;
}

std::string words_for(const json::value& node, bool dry_run) {
  const std::string verdict = text(node, "verdict");
  if (dry_run && verdict.starts_with("refused") && verdict != "refused_spread")
    return verdict == "refused_missing" ? "would be refused: no data" : "would be refused";
  if (const auto crowd = integer(node, "crowd"); crowd > 0)
    return fmt::format("{}, less {} for pods just placed", verdict, crowd);
  if (flag(node, "beyond")) return fmt::format("{}, far outside the others' range", verdict);
  if (verdict == "refused_missing") return "refused: no data";
  if (verdict == "refused_spread") return "refused: spread";
  if (verdict == "unknown") return "passed: never seen";
  if (verdict == "unscored") {
    if (flag(node, "implausible")) return "cannot be: no score";
    const auto& values = list(node, "values");
    return values.empty() || !text(values.front(), "absent").empty() ? "no data" : "partial: no score";
  }
  return verdict;
}

struct rule_facts {
  std::string metric, target;
};

std::vector<rule_facts> rules_of(const json::value& record) {
  std::vector<rule_facts> rules;
  for (const auto& r : list(record, "rules")) {
    const std::string target = digits(r, "target");
    const std::string operation = text(r, "operator");
    const auto known = policy::comparison_of(operation);
    rules.push_back(
        {text(r, "metric"),
         target.empty() ? "" : fmt::format("{} {}", known ? policy::sign(*known) : operation, target)});
  }
  return rules;
}

/// Lines about nodes that were ranked by watts: what the pod would cost on each, and the terms of that sum.
std::vector<std::string> watts_lines(const json::value& record, const paint& with) {
  table t;
  t.column("NODE");
  t.column("VERDICT");
  const bool priced = text(object(record, "policy"), "objective") == "BestChord";
  for (const char* name :
       {"SCORE", "W NOW", "W WITH POD", priced ? "PRICE W/CORE" : "W/CORE", "LOAD", "AGE", "IN FLIGHT"})
    t.column(name, align::right);
  t.column("MODEL");
  t.column("AGE", align::right);
  bool any_unknown = false;
  for (const auto& n : list(record, "nodes")) {
    const json::value power = object(n, "power");
    any_unknown = any_unknown || text(power, "model").empty();
    const auto figure = [&power](std::string_view key, int after) {
      const auto value = number(power, key);
      return value ? fmt::format("{:.{}f}", *value, after) : std::string();
    };
    const std::string verdict = text(n, "verdict"), cost = text(power, "cost");
    const auto& values = list(n, "values");
    const std::string absent = values.empty()           ? "no agent"
                               : flag(n, "implausible") ? "cannot be"
                                                        : reason_words(text(values.front(), "absent"));
    const auto load_ms = values.empty() ? -1 : integer(values.front(), "ageMs", -1);
    const auto model_s = integer(power, "modelAgeSeconds", -1);
    t.row({{text(n, "node"), colour::bold},
           {cost == "over"    ? "full"
            : cost == "error" ? "no figure"
            : cost == "known" ? verdict
                              : "no opinion",
            ink_of_verdict(verdict)},
           {digits(n, "score")},
           {figure("wattsNow", 1)},
           {figure("wattsWithPod", 1)},
           {figure("wattsPerCore", 2)},
           {absent.empty() ? figure("loadCores", 1) : absent, absent.empty() ? colour::none : colour::yellow},
           {load_ms < 0 ? "" : age(load_ms), colour::dim},
           {figure("inFlightCores", 1)},
           {model_words(power)},
           {model_s < 0 ? "" : age(1000 * model_s), colour::dim}});
  }
  std::vector<std::string> lines = t.lines(with);
  // The record is too small to keep why a model server said nothing.
  if (any_unknown && flag(object(record, "policy"), "onlyExternal"))
    lines.push_back(
        with(colour::yellow,
             "only curves of model servers count (model: External): binnacle power NODE says why a "
             "node has none"));
  return lines;
}

std::vector<std::string> decision_lines(const json::value& record, const paint& with) {
  if (!text(object(record, "policy"), "objective").empty()) return watts_lines(record, with);
  const bool scored = text(record, "verb") == "prioritize";
  const auto rules = rules_of(record);
  table t;
  t.column("NODE");
  t.column("VERDICT");
  if (scored) t.column("SCORE", align::right);
  t.column("METRIC");
  t.column("VALUE", align::right);
  if (!scored) {
    t.column("TARGET");
    t.column("MARGIN", align::right);
  }
  t.column("AGE", align::right);

  for (const auto& n : list(record, "nodes")) {
    const std::string verdict = text(n, "verdict");
    const auto& values = list(n, "values");
    std::size_t i = 0;
    do {
      std::vector<table::cell> row;
      // A node's second and later rules are printed below its name.
      row.push_back({i == 0 ? text(n, "node") : "", colour::bold});
      row.push_back({i == 0 ? words_for(n, flag(record, "dryRun")) : "", ink_of_verdict(verdict)});
      if (scored) row.push_back({i == 0 ? digits(n, "score") : ""});
      if (i < values.size()) {
        const json::value& v = values[i];
        const rule_facts rule = i < rules.size() ? rules[i] : rule_facts{};
        const std::string absent = reason_words(text(v, "absent"));
        const auto age_ms = integer(v, "ageMs", -1);
        const auto margin = number(v, "margin");
        const bool decided = verdict == "refused" && integer(n, "rule") == static_cast<std::int64_t>(i);
        row.push_back({rule.metric});
        const auto covered = number(v, "windowCovered");
        const std::string value =
            digits(v, "value") + (covered ? fmt::format(" ({} % of its window)", plain(*covered)) : "");
        row.push_back({absent.empty() ? value : absent, decided          ? colour::red
                                                        : absent.empty() ? colour::none
                                                                         : colour::yellow});
        if (!scored) {
          row.push_back({rule.target});
          row.push_back({margin ? (*margin < 0 ? "" : "+") + plain(*margin) : ""});
        }
        row.push_back({age_ms < 0 ? "" : age(age_ms), colour::dim});
      }
      t.row(std::move(row));
    } while (++i < values.size());
  }
  return t.lines(with);
}

}  // namespace

std::vector<told_decision> newest_first(std::vector<told_decision> decisions, bool all) {
  std::stable_sort(decisions.begin(), decisions.end(), [](const auto& a, const auto& b) {
    return integer(a.record, "unixMs") > integer(b.record, "unixMs");
  });
  if (all) return decisions;
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<told_decision> newest;
  for (auto& d : decisions) {
    if (seen.emplace(pod_name(d.record), text(d.record, "verb")).second) newest.push_back(std::move(d));
  }
  return newest;
}

std::string render_decision(const told_decision& d, std::int64_t now_ms, const paint& with) {
  const json::value& record = d.record;
  std::string out = with(colour::bold, text(record, "summary")) + '\n';
  const std::int64_t at = integer(record, "unixMs");
  out += text(record, "time");
  if (now_ms > 0 && at > 0) out += fmt::format(" ({} ago)", age(std::max<std::int64_t>(0, now_ms - at)));
  out += with(colour::dim, fmt::format(", decision {} of {}", integer(record, "id"), d.url)) + '\n';

  const json::value policy = object(record, "policy");
  if (!text(policy, "name").empty()) {
    out += fmt::format("policy {}/{}", text(policy, "namespace"), text(policy, "name"));
    if (flag(record, "dryRun")) out += with(colour::yellow, " in dry run");
    const auto& rules = list(record, "rules");
    out += rules.size() > 1 ? fmt::format(", {}:", text(policy, "logicalOperator")) : ":";
    const std::string objective = text(policy, "objective");
    if (!objective.empty()) {
      const auto cap = number(policy, "maxLoad");
      const std::string cores = digits(policy, "podCores");
      out += fmt::format(" {}{}, a pod of {} {}", objective,
                         cap ? fmt::format(" up to {:.0f} % load", 100 * *cap) : "", cores,
                         cores == "1" ? "core" : "cores");
    }
    for (std::size_t i = 0; objective.empty() && i < rules.size(); ++i)
      out += (i == 0 ? " " : ", ") + text(rules[i], "rule");
    out += '\n';
  }
  if (const std::string spread = text(object(record, "spread"), "text"); !spread.empty())
    out += with(colour::yellow, "spread") + ": " + spread + '\n';
  if (!list(record, "nodes").empty()) {
    out += '\n';
    for (const auto& line : decision_lines(record, with)) out += line + '\n';
  }
  const std::int64_t hidden = integer(record, "nodesOmitted");
  if (hidden <= 0) return out;
  const std::string nodes = counted(hidden, "node");
  // Where no policy judged them, nothing was kept about the nodes, and no flag shows them.
  const bool was_judged = !list(record, "nodes").empty();
  const std::string rest =
      flag(record, "cut") ? "and " + nodes + " more, for which the answer had no room (--node NAME shows one)"
      : was_judged        ? "and " + nodes + " more (--all-nodes shows them)"
                          : "asked about " + nodes;
  return out + with(colour::dim, rest) + '\n';
}

}  // namespace binnacle::cli
