#pragma once

#include "aggregator/kube/merge_patch.hpp"
#include "aggregator/kube/node_objects.hpp"
#include "aggregator/policy/published/labels.hpp"

#include <string>
#include <vector>

namespace binnacle::labels {

/// What is to be changed of one node so that its labels are as they should be.
struct label_change {
  kube::key_changes labels;
  kube::key_changes annotations;
  std::vector<std::string> foreign;  ///< keys that should be set and that somebody else has set
  policy::taken_keys taken;          ///< keys that are wished for at all and that somebody else has set

  bool empty() const noexcept { return labels.empty() && annotations.empty(); }
};

/// Compares a node with what is wished for it (null: nothing is known of it yet) and with what belongs to
/// policies at all. Touches what our annotation lists, adds keys that nobody uses, and takes the label of
/// add_wake() off after the last policy; nothing else.
label_change change_for(const kube::node_objects::node& node, const policy::label_wishes* wishes,
                        const policy::label_claims& claims);

/// A change of our own label that makes the scheduler try the pods again which it could not place on this
/// node.
void add_wake(const kube::node_objects::node& node, label_change& to);

/// As a merge patch. One that changes what our annotation lists carries the version that it was made from,
/// and is refused (409) when the node is another by now: a label that a user gave it this moment would be
/// lost, or one of ours would be on it and in no list.
http::call patch_of(const std::string& name, const kube::node_objects::node& node,
                    const label_change& change);

}  // namespace binnacle::labels
