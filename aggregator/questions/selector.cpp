#include "aggregator/questions/selector.hpp"

#include "common/text/label_syntax.hpp"
#include "common/text/read_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace binnacle::questions {
namespace {

using op = selector::op;

/// Each requirement is looked up in the labels of every object, on a loop that others wait for.
constexpr std::size_t most_requirements = 32;

error wrong(std::string_view what) {
  return {errc::invalid_input, fmt::format("unable to parse requirement: {}", what)};
}

/// Splits a selector into words and the symbols = == != > < ! ( ) and comma. Blanks separate words.
class lexer {
 public:
  explicit lexer(std::string_view text) : text_(text) { advance(); }

  std::string_view peek() const noexcept { return token_; }
  bool at_end() const noexcept { return token_.empty(); }
  bool at_word() const noexcept { return !token_.empty() && !is_symbol(token_.front()); }
  std::string_view take() {
    const auto taken = token_;
    advance();
    return taken;
  }
  bool take_if(std::string_view token) {
    if (token_ != token) return false;
    advance();
    return true;
  }
  std::string found() const { return at_end() ? "end of text" : fmt::format("'{}'", token_); }

 private:
  static bool is_symbol(char c) noexcept {
    return std::string_view("=!(),<>").find(c) != std::string_view::npos;
  }
  static bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  void advance() {
    while (!text_.empty() && is_blank(text_.front())) text_.remove_prefix(1);
    std::size_t length = 0;
    if (text_.starts_with("==") || text_.starts_with("!=")) {
      length = 2;
    } else if (!text_.empty() && is_symbol(text_.front())) {
      length = 1;
    } else {
      while (length < text_.size() && !is_symbol(text_[length]) && !is_blank(text_[length])) ++length;
    }
    token_ = text_.substr(0, length);
    text_.remove_prefix(length);
  }

  std::string_view text_;
  std::string_view token_;
};

result<std::vector<std::string>> parse_value_list(lexer& in) {
  if (!in.take_if("(")) return wrong(fmt::format("found {}, expected: '('", in.found()));
  std::vector<std::string> values;
  for (;;) {
    // An empty value between commas is a value: "in (a,)" names "a" and "".
    std::string value = in.at_word() ? std::string(in.take()) : std::string();
    if (auto flaw = label_value_flaw(value); !flaw.empty()) return wrong(flaw);
    values.push_back(std::move(value));
    if (in.take_if(",")) continue;
    if (in.take_if(")")) break;
    return wrong(fmt::format("found {}, expected: ',' or ')'", in.found()));
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

result<selector::requirement> parse_requirement(lexer& in) {
  selector::requirement r;
  const bool negated = in.take_if("!");
  if (!in.at_word()) return wrong(fmt::format("found {}, expected: a label key", in.found()));
  r.key = std::string(in.take());
  if (auto flaw = label_key_flaw(r.key); !flaw.empty()) return wrong(flaw);
  if (negated) {
    r.what = op::not_exists;
    return r;
  }
  if (in.at_end() || in.peek() == ",") return r;

  const std::string_view symbol = in.take();
  if (symbol == "in" || symbol == "notin") {
    r.what = symbol == "in" ? op::in : op::not_in;
    auto values = parse_value_list(in);
    if (values.has_error()) return values.error();
    r.values = std::move(*values);
    return r;
  }
  if (symbol == "=") {
    r.what = op::equals;
  } else if (symbol == "==") {
    r.what = op::double_equals;
  } else if (symbol == "!=") {
    r.what = op::not_equals;
  } else if (symbol == ">") {
    r.what = op::greater;
  } else if (symbol == "<") {
    r.what = op::less;
  } else {
    return wrong(fmt::format("found '{}', expected: one of =, ==, !=, in, notin, >, <", symbol));
  }
  std::string value = in.at_word() ? std::string(in.take()) : std::string();
  if (auto flaw = label_value_flaw(value); !flaw.empty()) return wrong(flaw);
  if ((r.what == op::greater || r.what == op::less) && !read_number<std::int64_t>(value)) {
    return wrong(fmt::format("'{}' after '{}' must be an integer", value, symbol));
  }
  r.values.push_back(std::move(value));
  return r;
}

bool holds(const selector::requirement& r, std::optional<std::string_view> label) {
  const auto listed = [&] { return std::binary_search(r.values.begin(), r.values.end(), *label); };
  switch (r.what) {
    case op::exists: return label.has_value();
    case op::not_exists: return !label;
    case op::equals:
    case op::double_equals:
    case op::in: return label && listed();
    case op::not_equals:
    case op::not_in: return !label || !listed();
    case op::greater:
    case op::less: {
      if (!label) return false;
      const auto have = read_number<std::int64_t>(*label);
      const auto limit = read_number<std::int64_t>(r.values.front());
      return have && limit && (r.what == op::greater ? *have > *limit : *have < *limit);
    }
  }
  return false;
}

}  // namespace

result<selector> selector::parse(std::string_view text) {
  selector s;
  lexer in(text);
  if (in.at_end()) return s;
  for (;;) {
    if (s.requirements_.size() == most_requirements) {
      return error{
          errc::invalid_input,
          fmt::format("a selector has at most {} requirements: name several values of one label with "
                      "'in', or ask several times",
                      most_requirements)};
    }
    auto r = parse_requirement(in);
    if (r.has_error()) return r.error();
    s.requirements_.push_back(std::move(*r));
    if (in.at_end()) break;
    if (!in.take_if(",")) return wrong(fmt::format("found {}, expected: ',' or end of text", in.found()));
    if (in.at_end()) return wrong("found end of text, expected: a label key after ','");
  }
  std::stable_sort(s.requirements_.begin(), s.requirements_.end(),
                   [](const requirement& a, const requirement& b) { return a.key < b.key; });
  return s;
}

bool selector::matches(const look_up& label) const {
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const requirement& r) { return holds(r, label(r.key)); });
}

bool selector::matches(const metrics::label_set& labels) const {
  // One pass over the labels. A look through them for each requirement would be a thousand comparisons for
  // a series of 32 labels, and a metric may have ten thousand such series.
  std::array<std::optional<std::string_view>, most_requirements> found;
  for (const auto& [name, value] : labels) {
    auto at = std::lower_bound(requirements_.begin(), requirements_.end(), name,
                               [](const requirement& r, const std::string& key) { return r.key < key; });
    for (; at != requirements_.end() && at->key == name; ++at) {
      auto& here = found[static_cast<std::size_t>(at - requirements_.begin())];
      if (!here) here = value;
    }
  }
  std::size_t i = 0;
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const requirement& r) { return holds(r, found[i++]); });
}

std::string selector::text() const {
  std::string out;
  for (const requirement& r : requirements_) {
    if (!out.empty()) out += ',';
    switch (r.what) {
      case op::exists: out += r.key; break;
      case op::not_exists: out += '!' + r.key; break;
      case op::equals: out += r.key + '=' + r.values.front(); break;
      case op::double_equals: out += r.key + "==" + r.values.front(); break;
      case op::not_equals: out += r.key + "!=" + r.values.front(); break;
      case op::greater: out += r.key + '>' + r.values.front(); break;
      case op::less: out += r.key + '<' + r.values.front(); break;
      case op::in: out += fmt::format("{} in ({})", r.key, fmt::join(r.values, ",")); break;
      case op::not_in: out += fmt::format("{} notin ({})", r.key, fmt::join(r.values, ",")); break;
    }
  }
  return out;
}

result<void> selector::write_label_selector(json_writer& out) const {
  if (empty()) {
    out.null();
    return {};
  }
  for (const requirement& r : requirements_) {
    if (r.what != op::greater && r.what != op::less) continue;
    return error{errc::invalid_input,
                 fmt::format("\"{}{}{}\" is not possible in a metricLabelSelector: use =, !=, in, notin "
                             "or the key alone",
                             r.key, r.what == op::greater ? '>' : '<', r.values.front())};
  }
  const auto is_label = [](const requirement& r) {
    return r.what == op::equals || r.what == op::double_equals;
  };
  out.begin_object();
  if (std::any_of(requirements_.begin(), requirements_.end(), is_label)) {
    out.key("matchLabels").begin_object();
    for (auto r = requirements_.begin(); r != requirements_.end(); ++r) {
      if (!is_label(*r)) continue;
      // The last of several values for one key, as a Go map keeps it.
      const bool again = std::any_of(r + 1, requirements_.end(),
                                     [&](const requirement& o) { return is_label(o) && o.key == r->key; });
      if (!again) out.field(r->key, r->values.front());
    }
    out.end_object();
  }
  if (!std::all_of(requirements_.begin(), requirements_.end(), is_label)) {
    out.key("matchExpressions").begin_array();
    for (const requirement& r : requirements_) {
      if (is_label(r)) continue;
      out.begin_object().field("key", r.key);
      switch (r.what) {
        case op::in: out.field("operator", "In"); break;
        case op::not_equals:
        case op::not_in: out.field("operator", "NotIn"); break;
        case op::not_exists: out.field("operator", "DoesNotExist"); break;
        default: out.field("operator", "Exists"); break;
      }
      if (!r.values.empty()) {
        out.key("values").begin_array();
        for (const auto& v : r.values) out.value(v);
        out.end_array();
      }
      out.end_object();
    }
    out.end_array();
  }
  out.end_object();
  return {};
}

result<void> check_field_selector(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view term = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (term.empty()) continue;
    const auto sign = term.find_first_of("=!");
    if (sign == std::string_view::npos || (term[sign] == '!' && !term.substr(sign).starts_with("!="))) {
      return error{
          errc::invalid_input,
          fmt::format("invalid field selector: cannot understand '{}', expected metadata.name=NAME", term)};
    }
    const std::string_view field = term.substr(0, sign);
    const bool negative = term[sign] == '!';
    const std::string_view value =
        term.substr(sign + (term.substr(sign).starts_with("==") || negative ? 2 : 1));
    if (field != "metadata.name") {
      return error{errc::invalid_input, fmt::format("field label not supported: {}", field)};
    }
    if (negative || value != name) {
      return error{errc::invalid_input, "fieldSelector metadata.name doesn't match requested name"};
    }
  }
  return {};
}

}  // namespace binnacle::questions
