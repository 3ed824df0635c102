#pragma once

#include "aggregator/policy/published/labels.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

/// What the two loops tell each other about the labels of nodes.
namespace binnacle::labels {

using label_map = std::map<std::string, std::string>;

/// The labels of ours that a Node object carries; none: there is no such object.
struct node_labels {
  std::string node;
  std::optional<label_map> labels;
  std::string uid = {};  ///< another one: the node was deleted, and made anew under its name
};

/// The keys that policies wish to give and that somebody else has set on the node; see
/// policy::engine::set_taken_keys().
struct node_taken {
  std::string node;
  policy::taken_keys keys;
};

/// What the policy engine wishes for a node's labels.
struct node_wishes {
  std::string node;
  policy::label_wishes wishes;
};

/// What node_label_sync on the faces loop tells the label_router. The ingest loop implements it. Threads:
/// any; the calls post and do not block.
class router_inbox {
 public:
  virtual ~router_inbox() = default;
  /// What Node objects carry of our labels, whenever that changes.
  virtual void take_node_labels(std::vector<node_labels> nodes) = 0;
  /// Every Node object has been told once since the start. So a node that has not been told has none.
  virtual void all_nodes_told() = 0;
  /// Keys that others have set on nodes, whenever that changes.
  virtual void take_taken_keys(std::vector<node_taken> nodes) = 0;
  /// Whether this replica writes the labels; see policy::engine. In a cluster it does not at first.
  virtual void set_writes_labels(bool writes) = 0;
};

}  // namespace binnacle::labels
