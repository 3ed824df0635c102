#include "aggregator/policy/text/problem.hpp"

#include "common/text/text.hpp"
#include "common/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::policy {

std::string_view to_string(severity s) noexcept {
  switch (s) {
    case severity::error: return "error";
    case severity::warning: return "warning";
    case severity::hint: return "hint";
    case severity::note: return "note";
  }
  return "?";
}

std::string problem::text(std::string_view word) const {
  std::string out = file;
  if (line > 0) out += fmt::format(":{}", line);
  if (!out.empty()) out += ": ";
  out += fmt::format("{}: ", word);
  if (!field.empty()) out += field + ": ";
  return out + message;
}

void write_problem(json_writer& out, const problem& p) {
  out.begin_object().field("severity", to_string(p.level)).field("file", p.file);
  if (p.line > 0) out.field("line", p.line);
  if (!p.field.empty()) out.field("field", p.field);
  out.field("message", p.message).end_object();
}

void findings::add(severity level, int line, std::string field, std::string message) {
  if (level == severity::error) ++errors_;
  if (all_.size() >= most) {
    ++left_out_;
    return;
  }
  // Names and texts come from files, and a parser's message may quote a byte of the text.
  field = printable(clean_utf8(field));
  message = printable(clean_utf8(message));
  all_.push_back({file_, line, std::move(field), std::move(message), level});
}

std::vector<problem> findings::take() {
  std::ranges::stable_sort(all_, {}, &problem::line);
  if (left_out_ > 0) {
    all_.push_back({file_,
                    0,
                    {},
                    fmt::format("{} more problems are not listed: mend these first", left_out_),
                    errors_ > 0 ? severity::error : severity::note});
  }
  return std::move(all_);
}

}  // namespace binnacle::policy
