#include "cli/dashboard/history/question.hpp"

#include "common/exposition/target_labels.hpp"
#include "common/http/target.hpp"
#include "common/metrics/family_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace binnacle::cli::dashboard::history {
namespace {

using namespace std::chrono_literals;

constexpr std::array<reach, 5> all_reaches{
    {{"15m", 15min, 5s}, {"1h", 1h, 15s}, {"6h", 6h, 90s}, {"24h", 24h, 6min}, {"7d", 168h, 42min}}};

constexpr std::size_t most_letters = 512;  // of a name or a label's value
constexpr std::size_t most_labels = 32;

bool is_label_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// A string literal of PromQL.
std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out += '"';
}

/// Builds the queries about one node, or about all.
class writer {
 public:
  writer(const std::string& node, const metrics::label_set& where) : node_(node), where_(where) {}

  /// {__name__="rapl_power_watts",node="a",package="0"}
  std::string selector(std::string_view family, const metrics::label_set& own) const {
    metrics::label_set target = where_;
    target.emplace_back("node", node_);
    std::string out = "{__name__=" + literal(family);
    for (const auto& [name, value] : exposition::with_target(target, own)) {
      const bool any_node = name == "node" && node_.empty();
      out += "," + name + (any_node ? "!=\"\"" : "=" + literal(value));
    }
    return out + "}";
  }

  /// The series of a node that its number is made of, each once.
  std::string series(const metrics::member& m) const {
    metrics::label_set own;
    if (!m.label.empty()) own.emplace_back(m.label, m.value);
    std::string by = "node";
    if (const metrics::family* f = metrics::find(m.family)) {
      for (const std::string_view label : f->labels) by += fmt::format(", {}", label);
    }
    return fmt::format("max by ({}) ({})", by, selector(m.family, own));
  }

  std::string series(std::span<const metrics::member> members) const {
    if (members.size() == 1) return series(members.front());
    std::string out;
    // Two families may have equal labels, and `or` would leave the second one out.
    for (std::size_t i = 0; i < members.size(); ++i)
      out += fmt::format(R"({}label_replace({}, "member", "{}", "", ""))", i == 0 ? "" : " or ",
                         series(members[i]), i);
    return out;
  }

  std::string number(const metrics::resolved& r) const {
    const metrics::family* f = metrics::find(r.family);
    const metrics::member chosen{r.family, r.label, r.value};
    std::span<const metrics::member> members(&chosen, 1);
    const bool rule_given = r.rule_given || !r.label.empty();
    if (f != nullptr && !rule_given && !f->members.empty()) members = f->members;
    std::string out = joined(f != nullptr && !rule_given ? f->rule : r.rule, members,
                             f == nullptr ? std::span<const metrics::member>() : f->denominator);
    if (!r.otherwise.empty()) {
      const metrics::member other{r.otherwise};
      out += " or " + joined(metrics::node_rule::sole, {&other, 1}, {});
    }
    if (r.scale != 1) out = fmt::format("({}) * {}", out, r.scale);
    if (r.offset != 0) out = fmt::format("({}) + {}", out, r.offset);
    return out;
  }

 private:
  std::string joined(metrics::node_rule rule, std::span<const metrics::member> members,
                     std::span<const metrics::member> denominator) const {
    const auto with = [](std::string_view how, const std::string& what) {
      return fmt::format("{} by (node) ({})", how, what);
    };
    switch (rule) {
      case metrics::node_rule::sole:
      case metrics::node_rule::max: return with("max", series(members));
      case metrics::node_rule::sum: return with("sum", series(members));
      case metrics::node_rule::min: return with("min", series(members));
      case metrics::node_rule::mean: return with("avg", series(members));
      case metrics::node_rule::ratio_of_sums:
        return with("sum", series(members)) + " / " + with("sum", series(denominator));
    }
    return {};
  }

  const std::string& node_;
  const metrics::label_set& where_;
};

error wrong(std::string what) { return {errc::invalid_input, std::move(what)}; }

/// `out` takes `value` if it is the first of its name and not too long.
result<void> take(std::string& out, const std::string& name, const std::string& value) {
  if (!out.empty()) return wrong(name + " is given twice");
  if (value.empty() || value.size() > most_letters)
    return wrong(fmt::format("{} has 1 to {} letters", name, most_letters));
  out = value;
  return {};
}

}  // namespace

std::span<const reach> reaches() noexcept { return all_reaches; }

result<question> parse_question(const std::vector<std::pair<std::string, std::string>>& query) {
  question q;
  std::string over;
  for (const auto& [name, value] : query) {
    std::string* const into = name == "span"     ? &over
                              : name == "node"   ? &q.node
                              : name == "metric" ? &q.metric
                              : name == "family" ? &q.family
                                                 : nullptr;
    if (into != nullptr) {
      if (const auto taken = take(*into, name, value); taken.has_error()) return taken.error();
      continue;
    }
    const auto equals = value.find('=');
    if (name != "label" || equals == value.npos || !is_label_name(value.substr(0, equals)) ||
        value.size() > most_letters || q.labels.size() == most_labels)
      return wrong("a page asks the history for span, node, metric, family and label=KEY=VALUE only");
    q.labels.emplace_back(value.substr(0, equals), value.substr(equals + 1));
  }
  const auto* const known = std::ranges::find(all_reaches, over, &reach::name);
  if (known == all_reaches.end()) return wrong("span is 15m, 1h, 6h, 24h or 7d");
  q.over = *known;
  if (q.metric.empty() == q.family.empty()) return wrong("either metric or family is to be given");
  if (!q.family.empty() && q.node.empty()) return wrong("a series is one of a node: node is missing");
  if (q.family.empty() && !q.labels.empty()) return wrong("labels choose a series of a family");
  return q;
}

result<std::string> promql(const question& q, const metrics::label_set& where) {
  const writer write(q.node, where);
  if (!q.family.empty()) return fmt::format("max({})", write.selector(q.family, q.labels));
  const metrics::resolved r = metrics::resolve(q.metric);
  if (metrics::find(r.family) == nullptr) {
    if (const metrics::family* of = metrics::family_of(r.family)) {
      return error{errc::unsupported,
                   fmt::format("{} is one series of {}: its history is on the page of each node, where the "
                               "series can be chosen",
                               r.family, of->name)};
    }
  }
  const std::string number = write.number(r);
  if (!q.node.empty()) return number;
  const auto line = [](std::string_view what, std::string_view name) {
    return fmt::format(R"(label_replace({}, "line", "{}", "", ""))", what, name);
  };
  return line(fmt::format("min({})", number), "lowest") + " or " +
         line(fmt::format("quantile(0.5, {})", number), "median") + " or " +
         line(fmt::format("max({})", number), "highest");
}

range range_of(const reach& over, std::int64_t now_s) noexcept {
  const std::int64_t to = now_s - now_s % over.step.count();
  return {to - over.length.count(), to};
}

std::string target_of(std::string_view prefix, std::string_view promql, const range& when,
                      std::chrono::seconds step, std::chrono::seconds patience) {
  if (prefix.ends_with('/')) prefix.remove_suffix(1);
  return fmt::format("{}/api/v1/query_range?query={}&start={}&end={}&step={}&timeout={}s", prefix,
                     http::query_escaped(promql), when.from_s, when.to_s, step.count(), patience.count());
}

}  // namespace binnacle::cli::dashboard::history
