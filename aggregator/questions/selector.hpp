#pragma once

#include "common/error.hpp"
#include "common/metrics/families.hpp"
#include "common/text/json_writer.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::questions {

/// A Kubernetes label selector: requirements that must all hold. Empty selects everything.
/// At most 32 requirements, so that an object is soon judged. Grammar: `k=v`, `k==v`, `k!=v`, `k in (a,b)`,
/// `k notin (a,b)`, `k`, `!k`, `k>1`, `k<1`, comma-separated;
/// `!=` and `notin` also hold where the key is absent. Source:
/// kubernetes.io/docs/concepts/overview/working-with-objects/labels.
class selector {
 public:
  enum class op : unsigned char {
    equals,
    double_equals,
    not_equals,
    in,
    not_in,
    exists,
    not_exists,
    greater,
    less
  };
  struct requirement {
    std::string key;
    op what = op::exists;
    std::vector<std::string> values;  // sorted; integers for greater and less
  };

  /// Errors: invalid_input, "unable to parse requirement: …" with what was found and what was expected.
  static result<selector> parse(std::string_view text);

  bool empty() const noexcept { return requirements_.empty(); }

  /// The value of a label, or nothing if the object has no such label. Asked for keys in ascending order.
  using look_up = std::function<std::optional<std::string_view>(std::string_view key)>;
  bool matches(const look_up& label) const;
  /// The same for the labels of a metric's series.
  bool matches(const metrics::label_set& labels) const;

  /// Canonical text: requirements in key order, values sorted ("a=1,b in (x,y),!c").
  std::string text() const;

  /// Appends the LabelSelector object (matchLabels, matchExpressions), or null when empty. Errors:
  /// invalid_input for `>` and
  /// `<`, which a LabelSelector cannot express.
  result<void> write_label_selector(json_writer& out) const;

 private:
  std::vector<requirement> requirements_;  // in key order, as Kubernetes prints and converts them
};

/// Checks a `fieldSelector` against the name in the path: the one field served is metadata.name, and it must
/// equal `name`. Errors: invalid_input, the sentence for a BadRequest.
result<void> check_field_selector(std::string_view text, std::string_view name);

}  // namespace binnacle::questions
