#include "cli/views/policies.hpp"

#include "aggregator/policy/cost/limits.hpp"
#include "cli/views/nodes.hpp"
#include "cli/views/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::cli {
namespace {

void render_strategy(std::string& out, const json::value& s, const paint& with) {
  out += "  " + text(s, "strategy");
  const auto& rules = list(s, "rules");
  if (rules.size() > 1) out += " " + text(s, "logicalOperator");
  for (const char* setting : {"onMissing", "maxNodes", "coolDown"}) {
    const std::string value = text(s, setting);
    if (!value.empty() && value != "Allow") out += with(colour::dim, fmt::format(" {} {}", setting, value));
  }
  out += '\n';
  if (const std::string terms = text(s, "terms"); !terms.empty()) out += fmt::format("    {}\n", terms);
  for (const auto& r : rules) out += fmt::format("    {}\n", text(r));
  const auto group = [&](const char* state, colour ink) {
    const json::value* g = member(s, state);
    if (g == nullptr) return;
    out += fmt::format("    {} {}\n", with(ink, fmt::format("{}:", state)), names_of(*g));
  };
  group("violating", colour::red);
  group("held", colour::yellow);
  group("missing", colour::yellow);
  group("frozen", colour::yellow);
}

std::string amount(const json::value& of, std::string_view key, policy::resource r) {
  return policy::amount_text(r, static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer(of, key))));
}

/// "1.2 MiB, 3 columns, 1 label key, 2 rules, 4000 evaluations a second".
std::string amounts(const json::value& takes) {
  std::string out;
  for (const policy::resource r : policy::all_resources) {
    if (member(takes, policy::to_string(r)) == nullptr) continue;  // an older aggregator has no such limit
    if (!out.empty()) out += ", ";
    out += amount(takes, policy::to_string(r), r);
  }
  return out;
}

/// What all policies take together, and the limits for all policies, for a namespace's and for a single one.
std::string budget_line(const json::value& budget) {
  std::string out = fmt::format("at {} all policies take", counted(integer(budget, "nodes"), "node"));
  for (const policy::resource r : policy::all_resources) {
    if (member(budget, policy::to_string(r)) == nullptr) continue;
    const json::value of = object(budget, policy::to_string(r));
    out += fmt::format("\n  {} of {} (a namespace {}, a policy {})", amount(of, "taken", r),
                       amount(of, "limit", r), amount(of, "namespaceLimit", r), amount(of, "policyLimit", r));
  }
  return out;
}

}  // namespace

bool has_errors(const json::value& policies) {
  return std::ranges::any_of(list(policies, "problems"),
                             [](const json::value& p) { return text(p, "severity") == "error"; });
}

std::string render_policies(const json::value& policies, const paint& with) {
  std::string out;
  for (const auto& p : list(policies, "policies")) {
    out += with(colour::bold, text(p, "namespace") + "/" + text(p, "name"));
    if (text(p, "mode") == "DryRun") out += with(colour::yellow, " (dry run: nothing is enforced)");
    out += '\n';
    for (const auto& s : list(p, "strategies")) render_strategy(out, s, with);
    for (const auto& l : list(p, "labels"))
      out += fmt::format("  label {}: {}\n", text(l, "label"), names_of(l));
    for (const auto& l : list(p, "wouldLabel"))
      out += fmt::format("  {} {}\n", with(colour::yellow, fmt::format("would label {}:", text(l, "label"))),
                         names_of(l));
    if (const json::value* takes = member(p, "takes"))
      out += "  " + with(colour::dim, "takes " + amounts(*takes)) + '\n';
    if (list(p, "strategies").empty()) out += with(colour::yellow, "  no strategy of it is in force") + '\n';
  }
  if (out.empty()) out = "no policy is in force\n";
  if (const json::value* budget = member(policies, "budget")) out += budget_line(*budget) + '\n';
  for (const auto& c : list(policies, "conditions")) {
    const std::string strategy = text(c, "strategy");
    out += fmt::format("{} {}{}{}: {}\n", with(colour::yellow, text(c, "type")), text(c, "policy"),
                       strategy.empty() ? "" : " ", strategy, text(c, "message"));
  }
  for (const auto& p : list(policies, "problems")) {
    const std::string severity = text(p, "severity"), field = text(p, "field"), file = text(p, "file");
    const std::int64_t line = integer(p, "line");
    out += fmt::format("{}{}{}{}: {}{}{}\n", file, line > 0 ? fmt::format(":{}", line) : "",
                       file.empty() ? "" : ": ",  // a folder that cannot be read is no file's problem
                       with(severity == "error" ? colour::red : colour::yellow, severity), field,
                       field.empty() ? "" : ": ", text(p, "message"));
  }
  return out;
}

std::string condition_words(const json::value& condition) {
  const std::string strategy = text(condition, "strategy");
  return fmt::format("{}{}{}: {}: {}", text(condition, "policy"), strategy.empty() ? "" : ", ", strategy,
                     text(condition, "type"), text(condition, "message"));
}

}  // namespace binnacle::cli
