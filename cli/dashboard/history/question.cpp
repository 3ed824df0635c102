#include "cli/dashboard/history/question.hpp"

#include "common/exposition/target_labels.hpp"
#include "common/http/target.hpp"
#include "common/metrics/family_of.hpp"
#include "common/metrics/hardware_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace binnacle::cli::dashboard::history {
namespace {

using namespace std::chrono_literals;

constexpr std::array<reach, 5> all_reaches{
    {{"15m", 15min, 5s}, {"1h", 1h, 15s}, {"6h", 6h, 90s}, {"24h", 24h, 6min}, {"7d", 168h, 42min}}};

/// A statistic of windows (docs/policies.md), and the PromQL function that computes it.
struct window_statistic {
  std::string_view name, begins;
};
constexpr std::array<window_statistic, 6> statistics{{{"avg", "avg_over_time("},
                                                      {"max", "max_over_time("},
                                                      {"min", "min_over_time("},
                                                      {"p95", "quantile_over_time(0.95, "},
                                                      {"stddev", "stddev_over_time("},
                                                      {"trend", "deriv("}}};
constexpr duration longest_window = 24h;
constexpr int points_of_window = 60;  // how many points the database reads for each one that it returns

constexpr std::size_t most_letters = 512;  // of a name or of a label's value
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

/// `text` escaped for RE2, so that the regular expression matches this text and nothing else.
std::string exactly(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// An OpenTelemetry metric's name as Prometheus writes it: hw.power in watts becomes hw_power_watts. Source:
/// opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics.
std::string in_prometheus(std::string_view metric, const metrics::family& of) {
  std::string out(metric);
  std::ranges::replace(out, '.', '_');
  if (!out.ends_with(of.unit)) out += fmt::format("_{}", of.unit);
  if (of.type == metrics::kind::counter) out += "_total";
  return out;
}

/// Builds the queries about one node, or about all.
class writer {
 public:
  writer(const std::string& node, const metrics::label_set& where, naming by)
      : node_(node), where_(where), by_(by) {}

  /// The series of a family with these labels: one selector, or several with `or` in between.
  std::string selector(std::string_view family, const metrics::label_set& own) const {
    if (by_ == naming::ours) return ours(family, own);
    std::string out;
    for (const auto& c : metrics::hardware_classes_of(family, metrics::label_of(own, "zone")))
      out += (out.empty() ? "" : " or ") + otlp(family, own, c);
    return out;
  }

  /// The series of a node that its one number is made of, each once.
  std::string series(const metrics::member& m) const {
    metrics::label_set own;
    if (!m.label.empty()) own.emplace_back(m.label, m.value);
    std::string by = "node";
    if (const metrics::family* f = metrics::find(m.family)) {
      for (const std::string_view label : f->labels) by += fmt::format(", {}", label);
    }
    std::string all = selector(m.family, own);
    // Adds our label `node`, taken from the database's own label ("a" or "a@replica").
    if (by_ == naming::otlp)
      all = fmt::format(R"re(label_replace({}, "node", "$1", "instance", "([^@]*).*"))re", all);
    if (by_ == naming::otlp_dots)
      all = fmt::format(R"re(label_replace({}, "node", "$1", "k8s.node.name", "(.*)"))re", all);
    return fmt::format("max by ({}) ({})", by, all);
  }

  std::string series(std::span<const metrics::member> members) const {
    if (members.size() == 1) return series(members.front());
    std::string out;
    // Two families may have equal labels; then `or` would drop the series of the second one. So each gets a
    // label of its own.
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

  /// {__name__="rapl_power_watts",node="a",package="0"}
  std::string ours(std::string_view family, const metrics::label_set& own) const {
    metrics::label_set target = where_;
    target.emplace_back("node", node_);
    std::string out = "{__name__=" + literal(family);
    for (const auto& [name, value] : exposition::with_target(target, own)) {
      const bool any_node = name == "node" && node_.empty();
      out += "," + name + (any_node ? "!=\"\"" : "=" + literal(value));
    }
    return out + "}";
  }

  /// {__name__="hw_power_watts",job="binnacle",instance=~"a(@.+)?",package="0",hw_id=~"package(/.+)?",hw_type="cpu"}
  std::string otlp(std::string_view family, const metrics::label_set& own,
                   const metrics::hardware_class& c) const {
    const bool dots = by_ == naming::otlp_dots;
    const auto attribute = [dots](const char* name) {
      std::string out(name);
      if (!dots) std::ranges::replace(out, '.', '_');
      return dots ? '"' + out + '"' : out;
    };
    const metrics::family* const known = metrics::find(family);
    const bool translated = !c.metric.empty() && known != nullptr && !dots;
    std::string out = "{__name__=" + literal(translated ? in_prometheus(c.metric, *known)
                                                        : std::string(c.metric.empty() ? family : c.metric));
    const auto add = [&out](std::string_view name, std::string_view how, std::string_view value) {
      out += fmt::format(",{}{}{}", name, how, literal(value));
    };
    if (dots) {
      add(attribute("service.name"), "=", "binnacle");
      add(attribute("k8s.node.name"), node_.empty() ? "!=" : "=", node_);
    } else {
      add("job", "=", "binnacle");
      if (node_.empty())
        add("instance", "!=", "");
      else
        add("instance", "=~", exactly(node_) + "(@.+)?");
    }
    for (const auto& [name, value] : where_) add(name, "=", value);
    for (const auto& [name, value] : own) add(name, "=", value);
    if (!c.source.empty()) add(attribute("hw.id"), "=~", exactly(c.source) + "(/.+)?");
    if (!c.type.empty()) add(attribute("hw.type"), "=", c.type);
    if (!c.source.empty()) add(attribute("hw.sensor_location"), "=", c.location);
    return out + "}";
  }

  const std::string& node_;
  const metrics::label_set& where_;
  const naming by_;
};

/// `what` with the statistic over the question's window; without a window, `what` itself.
std::string over_window(const question& q, const std::string& what) {
  const auto* const how = std::ranges::find(statistics, q.statistic, &window_statistic::name);
  if (how == statistics.end()) return what;
  const auto ms = [](duration d) { return std::chrono::duration_cast<std::chrono::milliseconds>(d).count(); };
  const duration apart = std::min(q.window, std::max<duration>(1s, q.window / points_of_window));
  return fmt::format("{}({})[{}ms:{}ms])", how->begins, what, ms(q.window), ms(apart));
}

/// Puts `value` into `out`. It is an error if the name came before, or if the value is too long.
result<void> take(std::string& out, const std::string& name, const std::string& value) {
  if (!out.empty()) return invalid(name + " is given twice");
  if (value.empty() || value.size() > most_letters)
    return invalid(fmt::format("{} has 1 to {} letters", name, most_letters));
  out = value;
  return {};
}

/// Reads "avg 30s".
result<void> take_window(question& q, std::string_view text) {
  const auto blank = std::min(text.find(' '), text.size());
  const auto* const how = std::ranges::find(statistics, text.substr(0, blank), &window_statistic::name);
  duration length{};
  const bool read = parse_duration(text.substr(std::min(blank + 1, text.size())), length);
  if (how == statistics.end() || !read || length < 1ms || length > longest_window || !q.statistic.empty())
    return invalid("a window is avg, max, min, p95, stddev or trend, and a time up to 24h: avg 30s");
  q.statistic = how->name;
  q.window = length;
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
    if (name == "window") {
      if (const auto taken = take_window(q, value); taken.has_error()) return taken.error();
      continue;
    }
    const auto equals = value.find('=');
    if (name != "label" || equals == value.npos || !is_label_name(value.substr(0, equals)) ||
        value.size() > most_letters || q.labels.size() == most_labels)
      return invalid(
          "a page asks the history for span, node, metric, family, label=KEY=VALUE and window only");
    q.labels.emplace_back(value.substr(0, equals), value.substr(equals + 1));
  }
  const auto* const known = std::ranges::find(all_reaches, over, &reach::name);
  if (known == all_reaches.end()) return invalid("span is 15m, 1h, 6h, 24h or 7d");
  q.over = *known;
  if (q.metric.empty() == q.family.empty()) return invalid("either metric or family is to be given");
  if (!q.family.empty() && q.node.empty()) return invalid("a series is one of a node: node is missing");
  if (q.family.empty() && !q.labels.empty()) return invalid("labels choose a series of a family");
  return q;
}

result<naming> parse_naming(std::string_view text) {
  if (text == "remote-write") return naming::ours;
  if (text == "otlp") return naming::otlp;
  if (text == "otlp-dots") return naming::otlp_dots;
  return invalid(fmt::format("--history-names '{}' is unknown: it is remote-write, otlp or otlp-dots", text));
}

result<std::string> promql(const question& q, const metrics::label_set& where, naming by) {
  const writer write(q.node, where, by);
  if (!q.family.empty()) return over_window(q, fmt::format("max({})", write.selector(q.family, q.labels)));
  const metrics::resolved r = metrics::resolve(q.metric);
  if (metrics::find(r.family) == nullptr) {
    if (const metrics::family* of = metrics::family_of(r.family)) {
      return error{errc::unsupported,
                   fmt::format("{} is one series of {}: its history is on the page of each node, where the "
                               "series can be chosen",
                               r.family, of->name)};
    }
  }
  const std::string number = over_window(q, write.number(r));
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
