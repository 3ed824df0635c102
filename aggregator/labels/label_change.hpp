#pragma once

#include "aggregator/kube/objects/merge_patch.hpp"
#include "aggregator/kube/objects/node_objects.hpp"
#include "aggregator/policy/published/labels.hpp"

#include <string>
#include <vector>

namespace binnacle::labels {

/// What is to be changed of one node so that its labels are as they should be.
struct label_change {
  kube::key_changes labels;
  kube::key_changes annotations;
  std::vector<std::string> foreign;  ///< keys that should be set now, but that somebody else has set
  policy::taken_keys taken;          ///< keys that policies may give, and that somebody else has set

  bool empty() const noexcept { return labels.empty() && annotations.empty(); }
};

/// Compares a node with its wishes (null: no wishes have come yet) and with the keys that belong to policies.
/// Changes only labels that our annotation lists, adds only keys that the node does not have, and removes the
/// label of add_wake() after the last policy.
label_change change_for(const kube::node_objects::node& node, const policy::label_wishes* wishes,
                        const policy::label_claims& claims);

/// Changes our own label, so that the scheduler tries again the pods that it could not place on this node.
void add_wake(const kube::node_objects::node& node, label_change& to);

/// The change as a merge patch. A patch that changes our annotation carries the node's version that it was
/// made from, and is refused (409) if the node has changed since. Otherwise a label that a user set at that
/// moment would be lost, or a label of ours would be on the node but not in the annotation.
http::call patch_of(const std::string& name, const kube::node_objects::node& node,
                    const label_change& change);

}  // namespace binnacle::labels
