#include "cli/top/cells.hpp"

#include "cli/views/units.hpp"
#include "common/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace binnacle::cli::top {
namespace {

// Each text is one character. The ASCII characters stand for the bars, from low to high.
constexpr std::string_view bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view ascii_bars = "_.-~=+*#";
constexpr std::string_view no_number = "·";
constexpr double least_span = 0.05;  // a fraction of the largest number

ink ink_of(const standing& s) {
  if (s.dry) return ink::dim;
  if (s.state == "violating") return ink::violating;
  if (s.state == "missing") return ink::missing;
  if (s.state == "held") return ink::held;
  if (s.state == "frozen") return ink::frozen;
  return ink::pass;
}

cell value_cell(const reading& r, const column& c) {
  if (r.value) return {with_unit(*r.value, c.unit) + (r.partial ? "*" : "")};
  return {r.absent.empty() ? "-" : r.absent, ink::missing};
}

cell curve_cell(const node& n) {
  if (n.model.empty()) return {"-", ink::missing};
  if (n.model != "node") return {n.model};
  return {fmt::format("node {} %{}", n.covered, n.noise ? fmt::format(" ±{:.1f} %", *n.noise) : "")};
}

cell standing_cell(const node& n, const column& c) {
  const standing& s = n.standings[c.index];
  std::string words = s.state;
  if (n.members > 0 && n.concerned[c.index] > 0) words = fmt::format("{} {}", n.concerned[c.index], s.state);
  return {s.dry ? "(" + words + ")" : words, ink_of(s)};
}

}  // namespace

cell cell_of(const node& n, const column& c, std::size_t trend, std::int64_t later_ms) {
  switch (c.kind) {
    case column_kind::name: return {shown_name(n), n.connected > 0 ? ink::strong : ink::missing};
    case column_kind::metric: return value_cell(n.values[c.index], c);
    case column_kind::age: {
      std::int64_t oldest = -1;
      for (const reading& r : n.values) oldest = std::max(oldest, r.age_ms);
      return {oldest < 0 ? "-" : age(oldest + later_ms), ink::dim};
    }
    case column_kind::trend: return {n.trails.empty() ? "" : sparkline(n.trails[trend], c.width), ink::dim};
    case column_kind::curve: return curve_cell(n);
    case column_kind::policy: return standing_cell(n, c);
    case column_kind::why: return {n.why, ink::dim};
  }
  return {};
}

std::string sparkline(const trail& t, std::size_t width) {
  const std::size_t shown = std::min(width, t.size());
  float low = 0, high = 0, largest = 0;
  bool any = false;
  for (std::size_t i = t.size() - shown; i < t.size(); ++i) {
    const float v = t.at(i);
    if (!std::isfinite(v)) continue;
    low = any ? std::min(low, v) : v;
    high = any ? std::max(high, v) : v;
    largest = std::max(largest, std::abs(v));
    any = true;
  }
  const double span = std::max<double>(high - low, least_span * largest);
  std::string out;
  for (std::size_t i = t.size() - shown; i < t.size(); ++i) {
    const float v = t.at(i);
    if (!std::isfinite(v)) {
      out += no_number;
      continue;
    }
    const double share = span > 0 ? (v - low) / span : 0;
    out +=
        bars[std::min<std::size_t>(std::size(bars) - 1, static_cast<std::size_t>(share * std::size(bars)))];
  }
  return out;
}

std::string in_ascii(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(text));
    const std::string_view character = text.substr(0, length);
    text.remove_prefix(length);
    const auto bar = std::ranges::find(bars, character);
    if (length == 1) {
      out += static_cast<unsigned char>(character[0]) < 0x80 ? character[0] : '?';
    } else if (bar != std::end(bars)) {
      out += ascii_bars[static_cast<std::size_t>(bar - std::begin(bars))];
    } else if (character == no_number || character == "…") {
      out += character == no_number ? ' ' : '~';
    } else if (character == "±") {
      out += "+-";
    } else if (character != "°") {
      out += '?';
    }
  }
  return out;
}

}  // namespace binnacle::cli::top
