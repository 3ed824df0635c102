#pragma once

#include "aggregator/policy/engine/status.hpp"
#include "aggregator/policy/engine/unmeasured.hpp"
#include "aggregator/policy/published/published.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// What the engine says to the outside.
namespace binnacle::policy {

enum class event_kind : std::uint8_t {
  accepted,   ///< a policy is new or changed
  removed,    ///< a policy is gone
  violating,  ///< a node began to violate a strategy
  cleared,    ///< a node no longer violates it
};
std::string_view to_string(event_kind k) noexcept;  ///< "Accepted"…

/// Something happened once. `message` is a sentence for a person, with the rule and without live values.
struct event {
  event_kind what = event_kind::accepted;
  policy_key policy;
  std::optional<strategy_kind> strategy;
  std::optional<store::node_id> node;
  bool dry_run = false;
  std::string message;
};

/// Implemented by the shell. Called at the end of an engine's call, on its thread, when the engine's state is
/// whole again: the const functions of the engine may be used, the others not.
class sink {
 public:
  virtual ~sink() = default;
  virtual void happened(const event& e) = 0;
  virtual void changed(const condition& c) = 0;
  /// engine::labels() or would_be_labels() of this node may have changed.
  virtual void relabel(store::node_id node) = 0;
  /// The policy set changed; the verdict cells of the new table are already right.
  virtual void published(std::shared_ptr<const policy_table> table) = 0;
};

/// The store as the engine sees it. watch() must not call the engine back.
class column_source {
 public:
  struct watched {
    store::column_id id{};
    std::shared_ptr<const store::shared_column> values;  ///< never null; already holds what is known
  };
  virtual ~column_source() = default;
  /// Called once per distinct spec; release() undoes it.
  virtual watched watch(const store::column_spec& spec, instant now) = 0;
  virtual void release(store::column_id id) = 0;
  /// The longest stale-after of what the column is made of, as nodes have announced it so far; zero if none
  /// has.
  virtual duration stale_after(store::column_id id) const = 0;
  /// For "did you mean". Good until the store changes.
  virtual family_names announced() const = 0;
};

}  // namespace binnacle::policy
