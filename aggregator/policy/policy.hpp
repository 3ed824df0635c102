#pragma once

#include "aggregator/policy/comparison.hpp"
#include "aggregator/policy/power_terms.hpp"
#include "aggregator/store/types.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/text/quantity.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A TASPolicy as plain structs: telemetry.intel.com/v1alpha1 with the fields that we add
/// (docs/policies.md). Where it came from (a file, the API server) does not matter here.
namespace binnacle::policy {

enum class strategy_kind : std::uint8_t {
  dontschedule,
  scheduleonmetric,
  deschedule,
  labeling,
  minimizepower
};
enum class logic : std::uint8_t { any_of, all_of };
enum class missing : std::uint8_t { allow, reject };
enum class mode : std::uint8_t { enforce, dry_run };
enum class herd_damping : std::uint8_t { enabled, disabled };

// As in the manifest.
std::string_view to_string(strategy_kind k) noexcept;  ///< "dontschedule"…
std::string_view to_string(logic l) noexcept;          ///< "anyOf", "allOf"
std::string_view to_string(missing m) noexcept;        ///< "Allow", "Reject"
std::string_view to_string(mode m) noexcept;           ///< "Enforce", "DryRun"

/// A true rule is a violation: rules describe the bad state. Comparisons are exact.
struct rule {
  std::string metric;
  comparison op = comparison::greater_than;
  quantity target;  ///< from `target` (int64) or `targetQuantity`; not used by scheduleonmetric, except with
                    ///< Equals
  std::vector<std::pair<std::string, std::string>> labels;  ///< labeling: "key=value"
  duration window{};                                        ///< zero: the latest value
  store::statistic stat = store::statistic::avg;
  duration hold{};  ///< `for`: true this long, in sample time, before it counts; absence resets it
  std::optional<quantity>
      clear;  ///< clearBelow or clearAbove (clearing_key()): cleared only past this, strictly
  std::optional<duration> stale_after;  ///< replaces the metric's own

  store::column_spec column() const { return {metric, window, stat}; }
  /// What the column holds as this rule sees it: its own staleAfter replaces the expiry.
  store::sample seen(const store::sample& s) const noexcept { return s.with_life(stale_after); }
  /// "rapl_power_watts GreaterThan 60", "rapl_power_watts (avg 30s) GreaterThan 60 for 1m": for messages and
  /// events; no live value, no node name.
  std::string text() const;
  /// The same for a rule that orders nodes instead: "rapl_power_watts, lowest first".
  std::string order_text() const;
  friend bool operator==(const rule&, const rule&) = default;
};

/// A number of nodes or a share of them ("3", "20%").
struct node_limit {
  std::uint32_t count = 0;
  bool percent = false;
  friend bool operator==(const node_limit&, const node_limit&) = default;
};

std::string to_string(node_limit l);  ///< as in the manifest: "3", "20%"
/// Errors: invalid_input, a sentence that may follow the place's name.
result<node_limit> parse_node_limit(std::string_view text);

struct strategy {
  strategy_kind kind = strategy_kind::dontschedule;
  logic op = logic::any_of;
  std::vector<rule> rules;
  missing on_missing = missing::allow;  ///< dontschedule, minimizepower
  power_terms power = {};               ///< minimizepower only
  std::optional<node_limit> max_nodes;  ///< deschedule, labeling
  duration cool_down{};  ///< deschedule, labeling: least time between two nodes' labels going on
  friend bool operator==(const strategy&, const strategy&) = default;
};

/// What minimizepower reads of each node, as its only rule: the load. Prioritize ranks by what follows from
/// it (predict/placing.hpp).
std::vector<rule> power_rules();

/// Namespace and name: the identity. Two policies of one name in two namespaces are two policies.
struct policy_key {
  std::string name_space = "default";
  std::string name;
  std::string text() const { return name_space + "/" + name; }
  friend auto operator<=>(const policy_key&, const policy_key&) = default;
};

struct policy {
  policy_key key;
  std::uint64_t revision = 0;  ///< changes whenever the content does; shown with every decision
  /// metadata.creationTimestamp as the API server wrote it (RFC 3339 in UTC, so that text order is order of
  /// time); empty for files. Decides which policy came first.
  std::string created;
  std::string
      uid;  ///< metadata.uid; empty for files. Tells an object from an earlier or later one of the same name
  mode how = mode::enforce;
  herd_damping damping = herd_damping::enabled;  ///< scores: pods just placed count against their node
  std::vector<strategy> strategies;              ///< at most one of each kind

  const strategy* find(strategy_kind kind) const noexcept;
  friend bool operator==(const policy&, const policy&) = default;
};

/// A number that is equal for equal content and, for practical purposes, different for different content: the
/// same on every replica and after a restart. `p.revision` itself does not count.
std::uint64_t content_revision(const policy& p);

}  // namespace binnacle::policy
