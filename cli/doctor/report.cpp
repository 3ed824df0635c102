#include "cli/doctor/report.hpp"

#include "cli/terminal_text.hpp"
#include "cli/views/units.hpp"
#include "common/text/json_writer.hpp"
#include "common/text/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::cli::doctor {
namespace {

constexpr std::size_t name_width = 14, grade_width = 11;
constexpr std::size_t indent = name_width + grade_width;

colour ink_of(grade g) noexcept {
  switch (g) {
    case grade::ok: return colour::green;
    case grade::warning: return colour::yellow;
    case grade::failure: return colour::red;
    case grade::unchecked: return colour::dim;
  }
  return colour::none;
}

std::string padded(std::string_view text, std::size_t to) {
  return std::string(to > text.size() ? to - text.size() : 1, ' ');
}

}  // namespace

std::string_view to_string(grade g) noexcept {
  switch (g) {
    case grade::ok: return "ok";
    case grade::warning: return "warning";
    case grade::failure: return "failure";
    case grade::unchecked: return "unchecked";
  }
  return "unchecked";
}

std::size_t count(std::span<const chapter> all, grade g) noexcept {
  std::size_t n = 0;
  for (const chapter& c : all) {
    n += static_cast<std::size_t>(std::ranges::count(c.found, g, &finding::how));
  }
  return n;
}

std::string as_text(std::string_view host, std::span<const chapter> all, const paint& with,
                    std::size_t width) {
  std::string out = with(colour::bold, fmt::format("binnacle doctor on {}", host)) + '\n';
  for (const chapter& c : all) {
    out += '\n';
    bool first = true;
    for (const finding& f : c.found) {
      const std::string_view name = first ? std::string_view(c.check) : std::string_view();
      const std::string_view how = to_string(f.how);
      out += with(colour::bold, name) + padded(name, name_width);
      out += with(ink_of(f.how), how) + padded(how, grade_width);
      // A finding may repeat what an agent or the API server said.
      out += wrapped(for_terminal(f.sentence), indent, width) + '\n';
      if (!f.remedy.empty()) {
        const bool hint = f.how == grade::ok || f.how == grade::unchecked;
        out += std::string(indent, ' ') + with(colour::dim, hint ? "hint: " : "mend: ");
        out += wrapped(for_terminal(f.remedy), indent + 6, width) + '\n';
      }
      first = false;
    }
  }
  const auto failures = count(all, grade::failure), warnings = count(all, grade::warning);
  const auto ink = failures > 0 ? colour::red : warnings > 0 ? colour::yellow : colour::green;
  const auto n = [](std::size_t k) { return static_cast<std::int64_t>(k); };
  out += '\n' +
         with(ink, fmt::format("{}, {}", counted(n(failures), "failure"), counted(n(warnings), "warning")));
  out += fmt::format("; {} ok, {} not checked from here.\n", count(all, grade::ok),
                     count(all, grade::unchecked));
  return out;
}

std::string as_json(std::string_view host, std::span<const chapter> all) {
  std::string out;
  json_writer w(out);
  w.begin_object().field("host", host).key("findings").begin_array();
  for (const chapter& c : all) {
    for (const finding& f : c.found) {
      w.begin_object().field("check", c.check).field("grade", to_string(f.how)).field("sentence", f.sentence);
      if (!f.remedy.empty()) w.field("remedy", f.remedy);
      w.end_object();
    }
  }
  w.end_array().field("failures", count(all, grade::failure)).field("warnings", count(all, grade::warning));
  w.field("unchecked", count(all, grade::unchecked)).end_object();
  return pretty_json(out) + '\n';
}

}  // namespace binnacle::cli::doctor
