#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::policy {

/// A label of a policy, and the nodes that carry it (or would).
struct listed_label {
  std::string label;  ///< "key=value"
  std::size_t count = 0;
  std::vector<std::string> nodes;  ///< the first by name
};

/// Collects, out of nodes' labels, those that one policy may give, by label. Policies of one name in two
/// namespaces share their keys, and so this list.
class label_lister {
 public:
  /// At most `most_names` nodes are named for each label. `policy` must outlive this.
  label_lister(std::string_view policy, std::size_t most_names) : policy_(policy), most_names_(most_names) {}

  /// A node, in order of the names: its node_view::labels, or would_be for those of a dry run.
  void add(std::string_view node, const std::map<std::string, std::string>& labels);
  std::vector<listed_label> take();

 private:
  const std::string_view policy_;
  const std::size_t most_names_;
  std::map<std::string, listed_label> found_;
};

}  // namespace binnacle::policy
