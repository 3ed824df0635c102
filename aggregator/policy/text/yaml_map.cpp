#include "aggregator/policy/text/yaml_map.hpp"

#include "common/text/nearest.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace binnacle::policy {
namespace {

constexpr duration longest_span = std::chrono::hours(7 * 24);

std::string list_of(const std::vector<std::string_view>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + std::string(words[i]);
  }
  return out;
}

std::string suggestion(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view meant = nearest(word, known);
  return meant.empty() ? "" : fmt::format("did you mean {}? ", meant);
}

}  // namespace

yaml_value::yaml_value(const YAML::Node& node, std::string field, int first_line, findings& out)
    : node_(node),
      field_(std::move(field)),
      first_line_(first_line),
      line_(first_line + (node_.Mark().is_null() ? 0 : node_.Mark().line) + 1),
      out_(&out) {}

yaml_value yaml_value::operator[](std::size_t i) const {
  return {node_[i], fmt::format("{}[{}]", field_, i), first_line_, *out_};
}

void yaml_value::say(severity level, std::string message) const {
  out_->add(level, line(), field_, std::move(message));
}

std::optional<std::string> yaml_value::text(std::string_view form) const {
  if (node_.IsScalar()) return node_.Scalar();
  refuse(fmt::format("{} is expected here, not a {}", form, node_.IsMap() ? "mapping" : "list"));
  return std::nullopt;
}

std::optional<std::size_t> yaml_value::one_of(const std::vector<std::string_view>& words) const {
  const auto word = text(list_of(words));
  if (!word) return std::nullopt;
  const auto at = std::ranges::find(words, *word);
  if (at != words.end()) return static_cast<std::size_t>(at - words.begin());
  refuse(fmt::format("{} is unknown: {}it is one of {}, case included", in_quotes(*word),
                     suggestion(*word, words), list_of(words)));
  return std::nullopt;
}

std::optional<std::int64_t> yaml_value::integer() const {
  const auto word = text("an integer");
  if (!word) return std::nullopt;
  const std::string_view unsigned_part =
      std::string_view(*word).substr(word->starts_with('-') || word->starts_with('+') ? 1 : 0);
  // YAML 1.1, which Kubernetes reads, takes 030 for octal and 0x1e for hexadecimal: surely not meant.
  if (unsigned_part.size() > 1 && unsigned_part[0] == '0' && unsigned_part.find_first_of(".eE") != 1) {
    refuse(fmt::format("{} is not a plain integer: write it in decimal, without leading zeros",
                       in_quotes(*word)));
    return std::nullopt;
  }
  const auto exact = parse_quantity(*word);
  if (!exact.has_value()) {
    refuse(fmt::format("{} is not an integer: write a whole number such as 60", in_quotes(*word)));
    return std::nullopt;
  }
  // 30.0 and 3e1 are whole numbers too, to YAML as to Kubernetes; 1k is a text.
  const bool number = word->find_first_not_of("0123456789.eE+-") == std::string::npos;
  constexpr __int128 one = 1'000'000'000;
  const __int128 whole = exact->nano / one;
  const bool fits = whole >= INT64_MIN && whole <= INT64_MAX;
  if (number && exact->nano % one == 0 && fits) {
    const bool was_quoted = node_.Tag() == "!";
    if (!was_quoted) return static_cast<std::int64_t>(whole);
    refuse(fmt::format("{} is an integer in TASPolicy: write it without quotes", in_quotes(*word)));
    return std::nullopt;
  }
  refuse(fmt::format("target is {} in TASPolicy: use targetQuantity: \"{}\"",
                     fits ? "an integer" : "a 64-bit integer", *word));
  return std::nullopt;
}

std::optional<quantity> yaml_value::number() const {
  const auto word = text("a number such as \"70.5\" or \"500m\"");
  if (!word) return std::nullopt;
  auto value = parse_quantity(*word);
  if (value.has_value()) return *value;
  refuse(value.error().message.size() < 300 ? value.error().message
                                            : fmt::format("{} is not a quantity", in_quotes(*word)));
  return std::nullopt;
}

std::optional<duration> yaml_value::span(duration least) const {
  const auto word = text("a duration such as \"30s\"");
  if (!word) return std::nullopt;
  duration value{};
  if (word->starts_with('-')) {
    refuse(fmt::format("{} is negative: write a duration such as 30s", in_quotes(*word)));
  } else if (!parse_duration(*word, value)) {
    const bool bare = !word->empty() && word->find_first_not_of("0123456789.") == std::string::npos;
    refuse(bare ? fmt::format("{} has no unit: write {}s if seconds are meant", in_quotes(*word),
                              word->substr(0, 60))
                : fmt::format("{} is not a duration: write one such as 500ms, 30s, 10m or 1h30m",
                              in_quotes(*word)));
  } else if (value < least) {
    refuse(fmt::format("{} is too short: leave the field out or write a duration such as 30s",
                       in_quotes(*word)));
  } else if (value > longest_span) {
    refuse(fmt::format("{} is too long: at most 168h", in_quotes(*word)));
  } else {
    return value;
  }
  return std::nullopt;
}

yaml_map::yaml_map(const yaml_value& v) : self_(v) {
  if (!v.is_map()) {
    v.refuse(v.is_null() ? "is empty: a mapping of fields is expected"
                         : "a mapping of fields (name: value) is expected here");
    return;
  }
  std::set<std::string> seen;
  for (const auto& pair : v.node_) {
    const yaml_value key(pair.first, v.field_, v.first_line_, *v.out_);
    if (!pair.first.IsScalar()) {
      key.refuse("a field's name must be plain text");
      continue;
    }
    const std::string& name = pair.first.Scalar();
    if (!seen.insert(name).second) {
      key.refuse(fmt::format("{} is given twice: remove one", in_quotes(name)));
      continue;
    }
    std::string field = v.field_.empty() ? name : v.field_ + "." + name;
    if (field.size() > 300) field = v.field_;  // a name of that length is in the message, cut
    entries_.push_back({name, yaml_value(pair.second, std::move(field), v.first_line_, *v.out_), false});
    entries_.back().value.line_ = key.line();
  }
}

std::optional<yaml_value> yaml_map::get(std::string_view name) {
  skip(name);
  const auto at = std::ranges::find(entries_, name, &entry::name);
  if (at == entries_.end() || at->value.is_null()) return std::nullopt;
  return at->value;
}

void yaml_map::skip(std::string_view name) {
  known_.push_back(name);
  const auto at = std::ranges::find(entries_, name, &entry::name);
  if (at != entries_.end()) at->known = true;
}

std::vector<std::pair<std::string, yaml_value>> yaml_map::all() {
  std::vector<std::pair<std::string, yaml_value>> out;
  for (entry& e : entries_) {
    e.known = true;
    out.emplace_back(e.name, e.value);
  }
  return out;
}

void yaml_map::finish() {
  for (const entry& e : entries_) {
    if (e.known) continue;
    const std::string_view meant = nearest(e.name, known_);
    const std::string remedy = !meant.empty() ? fmt::format("did you mean {}?", meant)
                               : e.name == "<<"
                                   ? std::string("YAML merge keys are not supported; write the fields out")
                                   : std::string("remove it");
    e.value.refuse(fmt::format("the field {} is unknown here: {}", in_quotes(e.name), remedy));
  }
}

}  // namespace binnacle::policy
