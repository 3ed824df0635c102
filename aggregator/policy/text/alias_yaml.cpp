#include "aggregator/policy/text/alias_yaml.hpp"

#include "aggregator/policy/text/yaml.hpp"
#include "aggregator/policy/text/yaml_map.hpp"
#include "common/text/load_yaml.hpp"
#include "common/text/read_number.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::policy {
namespace {

using metrics::node_rule;

constexpr std::size_t most_aliases = 1'000;

/// The node rules that an alias may name; a ratio of sums needs a second family.
constexpr std::array<std::pair<std::string_view, node_rule>, 5> alias_rules{{{"sole", node_rule::sole},
                                                                             {"sum", node_rule::sum},
                                                                             {"max", node_rule::max},
                                                                             {"min", node_rule::min},
                                                                             {"mean", node_rule::mean}}};

bool is_name(std::string_view name, std::string_view more) {
  return !name.empty() && name.size() <= 253 && std::ranges::all_of(name, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           more.find(c) != more.npos;
  });
}

/// The name with digits in place of "<N>" and "<M>".
std::string without_places(std::string name) {
  for (const std::string_view place : {"<N>", "<M>"}) {
    for (auto at = name.find(place); at != name.npos; at = name.find(place))
      name.replace(at, place.size(), "0");
  }
  return name;
}

/// The texts that a metrics::alias points to.
struct row {
  std::string name, family, label, value;
  std::optional<node_rule> rule;
  double scale = 1, offset = 0;
  duration window{};
};

class alias_reader {
 public:
  alias_reader(metrics::alias_table& out, findings& found, const std::string& file)
      : out_(out), found_(found), note_(file) {}

  void read(const yaml_value& root) {
    if (root.is_null()) return;
    if (!root.is_list())
      return root.refuse("a list of aliases is expected: - {name: old_name, family: rapl_power_watts}");
    if (root.size() > most_aliases)
      return root.refuse(
          fmt::format("{} aliases, at most {} are read: remove some", root.size(), most_aliases));
    for (std::size_t i = 0; i < root.size(); ++i) {
      const std::size_t errors = found_.errors();
      row r;
      entry(root[i], r);
      if (found_.errors() != errors) continue;
      out_.add({.name = r.name,
                .family = r.family,
                .label = r.label,
                .value = r.value,
                .rule = r.rule,
                .scale = r.scale,
                .offset = r.offset,
                .window = std::chrono::duration_cast<std::chrono::seconds>(r.window),
                .note = note_});
    }
  }

 private:
  void entry(const yaml_value& v, row& r) {
    yaml_map fields(v);
    if (!v.is_map()) return;
    name(fields, r);
    family(fields, r);
    selector(fields, r);
    if (const auto rule = fields.get("rule")) {
      std::vector<std::string_view> names;
      for (const auto& known : alias_rules) names.push_back(known.first);
      if (const auto which = rule->one_of(names)) r.rule = alias_rules[*which].second;
    }
    if (const auto scale = fields.get("scale")) {
      r.scale = number(*scale);
      if (r.scale == 0)
        scale->refuse("a scale of 0 makes every value the same: leave it out or write another");
    }
    if (const auto offset = fields.get("offset")) r.offset = number(*offset);
    if (const auto window = fields.get("window")) {
      r.window = window->span(std::chrono::seconds(1)).value_or(duration::zero());
      if (r.window % std::chrono::seconds(1) != duration::zero())
        window->refuse("whole seconds are expected, such as 10s");
    }
    fields.finish();
  }

  void name(yaml_map& fields, row& r) {
    const auto given = fields.get("name");
    if (!given) return fields.self().refuse("name is missing: the old name that policies use");
    r.name = given->text("a metric's name").value_or("");
    if (r.name.empty()) return;
    if (!is_name(without_places(r.name), ":-.")) {
      given->refuse(fmt::format("{} is not a metric name: 1 to 253 letters, digits, '_', '-', ':', '.'",
                                in_quotes(r.name)));
    } else if (metrics::find(r.name) != nullptr) {
      given->refuse(
          fmt::format("{} is a metric of Binnacle's own and keeps its meaning: choose another name", r.name));
    } else if (!names_.insert(r.name).second) {
      given->refuse(fmt::format("{} appears twice: remove one", in_quotes(r.name)));
    }
  }

  void family(yaml_map& fields, row& r) {
    const auto given = fields.get("family");
    if (!given)
      return fields.self().refuse("family is missing: the metric that the name stands for (METRICS.md)");
    r.family = given->text("a metric's name").value_or("");
    if (!r.family.empty() && !is_name(r.family, ":"))
      given->refuse(
          fmt::format("{} is not a metric name: letters, digits, '_' and ':'", in_quotes(r.family)));
  }

  void selector(yaml_map& fields, row& r) {
    const auto given = fields.get("selector");
    if (!given) return;
    yaml_map label(*given);
    const auto all = label.all();
    if (!given->is_map()) return;
    if (all.size() != 1) return given->refuse("one label is expected: selector: {package: \"0\"}");
    r.label = all.front().first;
    r.value = all.front().second.text("a label's value").value_or("");
    const metrics::family* f = metrics::find(r.family);
    if (f != nullptr && std::ranges::count(f->labels, r.label) == 0) {
      given->refuse(fmt::format("{} has no label {}: {}", r.family, in_quotes(r.label),
                                f->labels.empty() ? "it has none; remove the selector"
                                                  : fmt::format("it has {}", fmt::join(f->labels, ", "))));
    }
  }

  static double number(const yaml_value& v) {
    const auto word = v.text("a number such as 0.001");
    if (!word) return 1;
    const auto value = read_number<double>(*word);
    // Beyond this a value of nine digits no longer fits.
    if (!value || !std::isfinite(*value) || std::abs(*value) > 1e9 ||
        (*value != 0 && std::abs(*value) < 1e-9)) {
      v.refuse(
          fmt::format("{} is not a number between 1e-9 and 1e9: write one such as 0.001", in_quotes(*word)));
      return 1;
    }
    return *value;
  }

  metrics::alias_table& out_;
  findings& found_;
  std::string note_;
  std::set<std::string> names_;
};

}  // namespace

std::vector<problem> parse_aliases(const std::string& file, std::string_view text,
                                   metrics::alias_table& out) {
  findings found(file);
  if (text.size() > most_text_bytes) {
    found.add(severity::error, 0, {},
              fmt::format("the file has {} bytes, at most {} are read", text.size(), most_text_bytes));
    return found.take();
  }
  try {
    alias_reader(out, found, file).read(yaml_value(load_yaml(std::string(text)), {}, 0, found));
  } catch (const YAML::Exception& e) {
    found.add(severity::error, e.mark.is_null() ? 0 : e.mark.line + 1, {},
              fmt::format("this is not YAML: {}; mend the file", e.msg));
  }
  return found.take();
}

}  // namespace binnacle::policy
