#include "common/exposition/target_labels.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace binnacle::exposition {

metrics::label_set with_target(metrics::label_set target, const metrics::label_set& own) {
  const auto has = [](const metrics::label_set& in, std::string_view name) {
    return std::ranges::any_of(in, [name](const auto& label) { return label.first == name; });
  };
  for (const auto& [name, value] : own) {
    std::string given = name;
    while (given.starts_with("__") || has(target, given) || (given != name && has(own, given)))
      given.insert(0, "exported_");
    target.emplace_back(std::move(given), value);
  }
  return target;
}

}  // namespace binnacle::exposition
