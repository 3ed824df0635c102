#include "cli/views/status.hpp"

#include "cli/views/policies.hpp"
#include "cli/views/table.hpp"
#include "cli/views/units.hpp"

#include <fmt/format.h>

namespace binnacle::cli {
namespace {

constexpr std::int64_t a_day = 86'400;

std::string uptime(std::int64_t seconds) {
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  if (seconds < 2 * a_day) return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
  return fmt::format("{}d{:02}h", seconds / a_day, seconds / 3600 % 24);
}

/// Appends a section: its name in the first column, its lines beside the name.
void section(std::string& out, std::string_view name, const std::vector<std::string>& lines,
             const paint& with) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out += with(colour::dim, fmt::format("{:<14}", i == 0 ? name : ""));
    out += lines[i];
    out += '\n';
  }
}

std::vector<std::string> node_lines(const json::value& status, const paint& with) {
  const json::value nodes = object(status, "nodes");
  const std::int64_t known = integer(nodes, "known"), connected = integer(nodes, "connected");
  if (known == 0) return {"none yet: start binnacle-agent with --aggregator pointing here"};
  const std::string text = fmt::format("{} of {} connected", connected, known);
  return {connected < known ? with(colour::yellow, text) : text};
}

std::vector<std::string> policy_lines(const json::value& status, const paint& with) {
  const json::value policies = object(status, "policies");
  const std::int64_t dry = integer(policies, "dryRun"), problems = integer(policies, "problems");
  std::string head = fmt::format("{} in force", integer(policies, "inForce"));
  if (dry > 0) head += fmt::format(", {} of them in dry run", dry);
  if (problems > 0)
    head += ", " + with(colour::red, counted(problems, "problem") + " in their files (binnacle policy list)");
  std::vector<std::string> lines{head};

  table t;
  for (int c = 0; c < 3; ++c) t.column("");
  for (const auto& s : list(policies, "strategies")) {
    std::string what;
    colour ink = colour::none;
    const auto add = [&](const char* state, colour c) {
      const std::int64_t n = integer(s, state);
      if (n == 0) return;
      what += fmt::format("{}{} {}", what.empty() ? "" : ", ", counted(n, "node"), state);
      if (ink == colour::none || c == colour::red) ink = c;
    };
    add("violating", colour::red);
    add("held", colour::yellow);
    add("missing", colour::yellow);
    add("frozen", colour::yellow);
    if (what.empty()) what = "no violation";
    if (text(s, "mode") == "DryRun") what += " (dry run)";
    t.row({{text(s, "policy")}, {text(s, "strategy")}, {what, ink}});
  }
  const auto rows = t.lines(with);
  lines.insert(lines.end(), rows.begin() + 1, rows.end());
  for (const auto& c : list(policies, "conditions"))
    lines.push_back(with(colour::yellow, condition_words(c)));
  if (const auto more = integer(policies, "moreConditions"); more > 0)
    lines.push_back(fmt::format("and {} more (binnacle policy list)", more));
  return lines;
}

void add_sources(std::vector<std::string>& lines, const json::value& problems, std::string_view what,
                 const paint& with) {
  const std::int64_t count = integer(problems, "count");
  if (count == 0) return;
  lines.push_back(with(colour::yellow, fmt::format("{} {}", counted(count, "source"), what)));
  const auto& first = list(problems, "first");
  for (const auto& p : first) {
    lines.push_back(fmt::format("{} {}: {}", text(p, "node"), text(p, "source"), text(p, "message")));
  }
  const auto more = count - static_cast<std::int64_t>(first.size());
  if (more > 0) lines.push_back(fmt::format("and {} more", more));
}

std::vector<std::string> source_lines(const json::value& status, const paint& with) {
  std::vector<std::string> lines;
  add_sources(lines, object(status, "sourceProblems"), "cannot be read", with);
  const std::int64_t partial = integer(object(status, "sourcesInPart"), "count");
  add_sources(lines, object(status, "sourcesInPart"), partial == 1 ? "works in part" : "work in part", with);
  if (lines.empty()) lines.push_back("all read");
  return lines;
}

std::vector<std::string> listener_lines(const json::value& status, const paint& with) {
  table t;
  t.column("name");
  t.column("address");
  t.column("open", align::right);
  t.column("requests", align::right);
  t.column("failures", align::right);
  for (const auto& l : list(status, "listeners")) {
    const std::int64_t failures =
        integer(l, "handshakeFailures") + integer(l, "malformed") + integer(l, "timeouts");
    t.row({{text(l, "name")},
           {text(l, "address")},
           {std::to_string(integer(l, "open"))},
           {std::to_string(integer(l, "requests"))},
           {std::to_string(failures), failures > 0 ? colour::yellow : colour::none}});
  }
  return t.lines(with);
}

std::vector<std::string> certificate_lines(const json::value& status, const paint& with) {
  std::vector<std::string> lines;
  for (const auto& c : list(status, "certificates")) {
    const std::int64_t left = integer(c, "secondsLeft");
    const std::string file = text(c, "file");
    if (left < 0) {
      lines.push_back(with(colour::red, fmt::format("{} ended {} ago", file, uptime(-left))));
    } else {
      lines.push_back(with(left < a_day ? colour::yellow : colour::none,
                           fmt::format("{} ends in {}", file, uptime(left))));
    }
  }
  return lines;
}

}  // namespace

std::string render_status(const json::value& status, const std::string& url, const paint& with) {
  std::string out = with(colour::bold, "binnacle-aggregator " + text(status, "version"));
  const std::string replica = text(status, "replica"), cluster = text(status, "cluster");
  if (!replica.empty()) out += ", replica " + replica;
  if (!cluster.empty()) out += ", cluster " + cluster;
  out += fmt::format(", {}, up {}  {}\n", text(status, "mode"), uptime(integer(status, "uptimeSeconds")),
                     with(colour::dim, url));

  section(out, "nodes", node_lines(status, with), with);
  section(out, "policies", policy_lines(status, with), with);
  section(out, "sources", source_lines(status, with), with);
  const json::value decisions = object(status, "decisions");
  section(out, "decisions",
          {fmt::format("{} made, the last {} kept", integer(decisions, "total"), integer(decisions, "kept"))},
          with);
  section(out, "listeners", listener_lines(status, with), with);
  section(out, "certificates", certificate_lines(status, with), with);
  std::vector<std::string> warnings;
  for (const auto& w : list(status, "warnings")) warnings.push_back(with(colour::yellow, text(w)));
  section(out, "warnings", warnings, with);
  return out;
}

}  // namespace binnacle::cli
