#pragma once

#include "aggregator/core/faces_news.hpp"
#include "aggregator/labels/messages.hpp"
#include "aggregator/policy/engine/events.hpp"
#include "aggregator/policy/published/labels.hpp"
#include "aggregator/predict/model.hpp"
#include "aggregator/store/view.hpp"
#include "common/clock.hpp"
#include "common/metrics/alias_table.hpp"
#include "common/wire/messages.hpp"

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// What the core yields (README.md: which event yields which change). Each is a value that owns what it
/// holds, so that it may cross to another thread or go into a file.
namespace binnacle::aggregator {

/// A node carries these labels of ours now.
struct labels_carried {
  store::node_id id{};
  std::string node;
  labels::label_map labels;
};
/// Policies in DryRun would give a node these labels now.
struct labels_would_be {
  store::node_id id{};
  std::string node;
  labels::label_map labels;
};
/// Other labels than before are wished for these nodes. Only in a cluster.
struct wishes_changed {
  std::vector<labels::node_wishes> wishes;
};
/// These nodes are no longer known; their ids mean nothing from now on.
struct nodes_forgotten {
  std::vector<store::node_id> ids;
};
/// Another set of policies is in force. Its verdict cells are already right.
struct policies_published {
  std::shared_ptr<const policy::policy_table> table;
};
/// The present power models of these nodes; null: the node has none any more.
struct models_learned {
  std::vector<std::pair<store::node_id, std::shared_ptr<const predict::model>>> models;
  /// Why a node's meter teaches nothing now, a clause; empty: it does again.
  std::vector<std::pair<store::node_id, std::string>> notes;
};
/// Other old names are in force.
struct aliases_replaced {
  std::shared_ptr<const metrics::alias_table> table;
};

/// Agents are to read other families, or at other periods.
struct interest_changed {
  wire::interest wanted;
};
/// Something happened once to a policy, or to `node` under it; `node` is empty if it concerns none.
struct policy_event {
  policy::event what;
  std::string node;
};
/// A node's power curve is learned from nothing again.
struct learning_restarted {
  std::string node;
  std::string why;  ///< a clause
};
/// Call tick() at `at`, which is earlier than the time that the last tick() or deadline_moved named.
struct deadline_moved {
  instant at{};
};

using change = std::variant<faces_news, interest_changed, policy_event, policy::condition, learning_restarted,
                            deadline_moved>;

}  // namespace binnacle::aggregator
