#include "common/exposition/exposition.hpp"

#include <fmt/format.h>

#include <cmath>

namespace binnacle::exposition {
namespace {

std::string_view type_name(metrics::kind type) noexcept {
  switch (type) {
    case metrics::kind::gauge: return "gauge";
    case metrics::kind::counter: return "counter";
    case metrics::kind::histogram: return "histogram";
  }
  return "untyped";
}

/// Appends `text` with the escapes of label values (`quotes`) or of help texts. In help, double quotes stay
/// as they are.
void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '\\' || (quotes && c == '"')) out += '\\';
      out += c;
    }
  }
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);  // the shortest text that reads back the same
}

}  // namespace

void writer::begin(std::string_view name, metrics::kind type, std::string_view help) {
  name_ = name;
  if (!help.empty()) {
    out_.append("# HELP ").append(name).append(" ");
    append_escaped(out_, help, false);
    out_ += '\n';
  }
  out_.append("# TYPE ").append(name).append(" ").append(type_name(type)).append("\n");
}

void writer::line(std::string_view suffix, const metrics::label_set& labels, std::string_view le,
                  std::string_view value) {
  out_.append(name_).append(suffix);
  char before = '{';
  for (const auto& [key, text] : labels) {
    out_.append(1, before).append(key).append("=\"");
    append_escaped(out_, text, true);
    out_ += '"';
    before = ',';
  }
  if (!le.empty()) {
    out_.append(1, before).append("le=\"").append(le).append("\"");
    before = ',';
  }
  if (before == ',') out_ += '}';
  out_.append(" ").append(value).append("\n");
}

void writer::add(const metrics::label_set& labels, std::string_view value) { line({}, labels, {}, value); }
void writer::add(const metrics::label_set& labels, double value) { line({}, labels, {}, number(value)); }

void writer::add_histogram(const metrics::label_set& labels, std::span<const double> upper_bounds,
                           std::span<const std::uint64_t> counts, double sum) {
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < upper_bounds.size() && i < counts.size(); ++i) {
    so_far += counts[i];
    line("_bucket", labels, number(upper_bounds[i]), std::to_string(so_far));
  }
  if (counts.size() > upper_bounds.size()) so_far += counts[upper_bounds.size()];
  line("_bucket", labels, "+Inf", std::to_string(so_far));
  line("_sum", labels, {}, number(sum));
  line("_count", labels, {}, std::to_string(so_far));
}

}  // namespace binnacle::exposition
