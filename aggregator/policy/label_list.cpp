#include "aggregator/policy/label_list.hpp"

#include "aggregator/policy/labels.hpp"

#include <map>
#include <utility>

namespace binnacle::policy {

std::vector<listed_label> list_labels(const store::view& nodes,
                                      std::map<std::string, std::string> store::node_view::*of,
                                      std::string_view policy, std::size_t most_names) {
  std::map<std::string, listed_label> found;
  for (const auto& [name, node] : nodes.nodes()) {
    for (const auto& [key, value] : node->*of) {
      if (policy_of(key) != policy) continue;
      listed_label& l = found[key + "=" + value];
      if (++l.count <= most_names) l.nodes.emplace_back(name);
    }
  }
  std::vector<listed_label> out;
  for (auto& [label, l] : found) {
    l.label = label;
    out.push_back(std::move(l));
  }
  return out;
}

}  // namespace binnacle::policy
