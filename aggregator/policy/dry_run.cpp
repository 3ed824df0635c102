#include "aggregator/policy/dry_run.hpp"

#include "aggregator/policy/labels.hpp"

#include <map>
#include <utility>

namespace binnacle::policy {

std::vector<would_be_label> would_be_labels(const store::view& nodes, std::string_view policy,
                                            std::size_t most_names) {
  std::map<std::string, would_be_label> found;
  for (const auto& [name, node] : nodes.nodes()) {
    for (const auto& [key, value] : node->would_be) {
      if (policy_of(key) != policy) continue;
      would_be_label& l = found[key + "=" + value];
      if (++l.count <= most_names) l.nodes.emplace_back(name);
    }
  }
  std::vector<would_be_label> out;
  for (auto& [label, l] : found) {
    l.label = label;
    out.push_back(std::move(l));
  }
  return out;
}

}  // namespace binnacle::policy
