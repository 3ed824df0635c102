#include "agent/base/probe.hpp"

#include "common/text/json_writer.hpp"
#include "common/text/utf8.hpp"
#include "common/text/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace binnacle::agent {
namespace {

// Drivers and firmware give their parts any name, and a terminal would obey what it says.
std::string shown(std::string_view text) { return printable(clean_utf8(text)); }

std::string shown(std::string_view text, std::size_t indent) { return wrapped(shown(text), indent); }

}  // namespace

bool source_findings::works() const noexcept {
  return std::any_of(found.begin(), found.end(), [](const finding& f) {
    return f.how == finding::grade::works || f.how == finding::grade::limited;
  });
}

std::string_view to_string(finding::grade g) noexcept {
  switch (g) {
    case finding::grade::works: return "works";
    case finding::grade::limited: return "limited";
    case finding::grade::absent: return "absent";
    case finding::grade::broken: return "broken";
  }
  return "broken";
}

std::optional<finding> without_value(const board& scratch) {
  constexpr std::size_t named = 5;
  std::string list;
  std::size_t count = 0;
  for (const auto& e : scratch.series()) {
    if (e.removed || e.reason == absence::none || e.reason == absence::not_read_yet) continue;
    if (++count > named) continue;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", e.info.family);
    for (const auto& [name, value] : e.info.labels) list += fmt::format(" {}", value);
    list += fmt::format(" ({})", to_string(e.reason));
  }
  if (count == 0) return std::nullopt;
  return finding{finding::grade::limited, count == 1 ? "1 series" : fmt::format("{} series", count),
                 fmt::format("without a value: {}{}", list, count > named ? "..." : ""),
                 "no_data: nothing, if the hardware has no such value, else its driver fails (see dmesg); "
                 "permission: see agent/PRIVILEGES.md"};
}

std::vector<source_findings> probe_all(std::span<const std::unique_ptr<source>> sources,
                                       const std::function<bool(const source&)>& which) {
  std::vector<source_findings> all;
  for (const auto& s : sources) {
    if (!which(*s)) continue;
    source_findings one{std::string(s->name()), {}};
    try {
      one.found = s->probe();
    } catch (const std::exception& e) {
      one.found = {{finding::grade::broken, "the source itself", e.what(), "tell Binnacle's developers"}};
    }
    if (!one.found.empty()) all.push_back(std::move(one));
  }
  return all;
}

std::string as_text(const std::string& node, std::span<const source_findings> all) {
  std::string out = fmt::format("What binnacle-agent can read on {}:\n", shown(node));
  std::size_t working = 0;
  for (const auto& s : all) {
    if (s.works()) ++working;
    out += '\n';
    bool first = true;
    for (const auto& f : s.found) {
      out += fmt::format("{:<10}{:<9}{}\n", first ? shown(s.source) : std::string(), to_string(f.how),
                         shown(f.what, 19));
      if (!f.why.empty()) out += fmt::format("{:19}why:  {}\n", "", shown(f.why, 25));
      if (!f.remedy.empty()) out += fmt::format("{:19}mend: {}\n", "", shown(f.remedy, 25));
      first = false;
    }
  }
  out += fmt::format("\n{} of {} sources work.\n", working, all.size());
  return out;
}

std::string as_json(const std::string& node, std::span<const source_findings> all) {
  std::string out;
  json_writer w(out);
  w.begin_object().field("node", node).key("sources").begin_array();
  for (const auto& s : all) {
    w.begin_object().field("source", s.source).field("works", s.works()).key("findings").begin_array();
    for (const auto& f : s.found) {
      w.begin_object().field("grade", to_string(f.how)).field("what", f.what).field("why", f.why);
      w.field("remedy", f.remedy).end_object();
    }
    w.end_array().end_object();
  }
  w.end_array().end_object();
  return pretty_json(out) + "\n";
}

}  // namespace binnacle::agent
