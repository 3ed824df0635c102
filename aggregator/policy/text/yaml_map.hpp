#pragma once

#include "aggregator/policy/text/problem.hpp"
#include "common/clock.hpp"
#include "common/text/quantity.hpp"

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::policy {

/// One value of a YAML document: the node, where it stands and what it is called. Its readers say what is
/// wrong and then give nothing.
class yaml_value {
 public:
  /// `first_line`: lines of the file in front of the document.
  yaml_value(const YAML::Node& node, std::string field, int first_line, findings& out);

  bool is_null() const { return !node_.IsDefined() || node_.IsNull(); }
  bool is_map() const { return node_.IsMap(); }
  bool is_list() const { return node_.IsSequence(); }
  bool is_scalar() const { return node_.IsScalar(); }
  std::size_t size() const { return node_.size(); }
  yaml_value operator[](std::size_t i) const;
  const std::string& field() const noexcept { return field_; }
  /// The number of the line, from 1. For a field it is the line of its name, not that of its value.
  int line() const noexcept { return line_; }

  void say(severity level, std::string message) const;
  void refuse(std::string message) const { say(severity::error, std::move(message)); }

  /// Any scalar as text. `form` says what was expected ("the name of a metric").
  std::optional<std::string> text(std::string_view form) const;
  /// One of `words`, exactly as written there; gives its index.
  std::optional<std::size_t> one_of(const std::vector<std::string_view>& words) const;
  /// A rule's target: a Kubernetes int64, so an unquoted whole number.
  std::optional<std::int64_t> integer() const;
  std::optional<quantity> number() const;
  /// A Go duration of at least `least` and at most a week.
  std::optional<duration> span(duration least) const;

 private:
  friend class yaml_map;
  YAML::Node node_;
  std::string field_;
  int first_line_;
  int line_;
  findings* out_;
};

/// A mapping whose fields are asked for by name. finish() then reports what nobody asked for.
class yaml_map {
 public:
  /// Reports when `v` is no mapping (the map is then empty) or has a field twice (the first one counts).
  explicit yaml_map(const yaml_value& v);

  /// The value of a field that is there and not null.
  std::optional<yaml_value> get(std::string_view name);
  /// A field that is allowed here although nobody reads it.
  void skip(std::string_view name);
  /// Every field, for maps whose keys are free.
  std::vector<std::pair<std::string, yaml_value>> all();
  /// Reports fields that were neither asked for nor skipped; says which known name is nearest.
  void finish();

  const yaml_value& self() const noexcept { return self_; }

 private:
  struct entry {
    std::string name;
    yaml_value value;
    bool known;
  };
  yaml_value self_;
  std::vector<entry> entries_;
  std::vector<std::string_view> known_;
};

}  // namespace binnacle::policy
