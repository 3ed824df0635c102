#include "aggregator/policy/published/label_list.hpp"

#include "aggregator/policy/label_keys.hpp"
#include "aggregator/policy/published/labels.hpp"

#include <utility>

namespace binnacle::policy {

void label_lister::add(std::string_view node, const std::map<std::string, std::string>& labels) {
  for (const auto& [key, value] : labels) {
    if (policy_of(key) != policy_) continue;
    listed_label& l = found_[key + "=" + value];
    if (++l.count <= most_names_) l.nodes.emplace_back(node);
  }
}

std::vector<listed_label> label_lister::take() {
  std::vector<listed_label> out;
  for (auto& [label, l] : found_) {
    l.label = label;
    out.push_back(std::move(l));
  }
  found_.clear();
  return out;
}

}  // namespace binnacle::policy
