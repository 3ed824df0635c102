#pragma once

#include "aggregator/policy/strategies.hpp"
#include "aggregator/store/shared_column.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What the policy engine (ingest loop) shows to the faces: an immutable table of policies whose verdict
/// cells are atomic.
namespace binnacle::policy {

enum class state : std::uint8_t {
  pass,       ///< not violating (also: nothing known, and missing data is allowed)
  violating,  ///< a rule (anyOf) or all rules (allOf) hold
  missing,    ///< dontschedule with onMissing: Reject, and data is missing
  held,       ///< violating, but maxNodes or coolDown withholds the label
  frozen,     ///< deschedule/labeling: data is missing, the last state stays
};
std::string_view to_string(state s) noexcept;

/// One strategy's verdict on one node.
struct verdict {
  state what = state::pass;
  bool violating = false;     ///< the label is (would be) on: true for violating and, as it was, for frozen
  std::uint16_t rule = 0;     ///< index of the first rule that decided
  std::uint16_t unknown = 0;  ///< how many rules had no value
  friend bool operator==(const verdict&, const verdict&) = default;
};

class verdict_column {
 public:
  void store(store::node_id id, verdict v) noexcept {
    cells_.grow(id).store(pack(v), std::memory_order_release);
  }
  verdict load(store::node_id id) const noexcept {
    const auto* cell = cells_.find(id);
    return cell == nullptr ? verdict{} : unpack(cell->load(std::memory_order_acquire));
  }

  /// The verdict on a node that the store has never heard of: `missing` where onMissing is Reject and the
  /// time for the fleet after our start is over, else pass.
  verdict of_unknown_node(instant now) const noexcept {
    const bool rejects = to_ns(now) >= rejects_from_ns_.load(std::memory_order_acquire);
    return {rejects ? state::missing : state::pass, false, 0, 1};
  }
  /// Writer: from when on missing data rejects.
  void reject_missing_from(instant t) noexcept {
    rejects_from_ns_.store(to_ns(t), std::memory_order_release);
  }

 private:
  static std::uint64_t pack(verdict v) noexcept {
    return static_cast<std::uint64_t>(v.what) | static_cast<std::uint64_t>(v.violating) << 8 |
           static_cast<std::uint64_t>(v.rule) << 16 | static_cast<std::uint64_t>(v.unknown) << 32;
  }
  static verdict unpack(std::uint64_t bits) noexcept {
    return {static_cast<state>(bits & 0xff), (bits >> 8 & 1) != 0,
            static_cast<std::uint16_t>(bits >> 16 & 0xffff), static_cast<std::uint16_t>(bits >> 32 & 0xffff)};
  }
  store::node_array<std::atomic<std::uint64_t>> cells_;
  std::atomic<std::int64_t> rejects_from_ns_{std::numeric_limits<std::int64_t>::max()};  // never
};

struct published_rule {
  rule definition;
  std::string text;                                    ///< strategy_description::rule_text, made once
  std::shared_ptr<const store::shared_column> values;  ///< never null

  /// Exactly what the rule compared: `sample::present(now)` says whether there was anything to compare.
  store::sample load(store::node_id id) const noexcept { return definition.seen(values->load(id)); }
};

struct published_strategy {
  strategy_kind kind = strategy_kind::dontschedule;
  logic op = logic::any_of;
  missing on_missing = missing::allow;
  std::vector<published_rule> rules;  ///< the rules that count: for some strategies only the first
  std::shared_ptr<const verdict_column> verdicts;  ///< null unless the engine judges it
  std::optional<node_limit> max_nodes = {};        ///< deschedule, labeling
  duration cool_down{};                            ///< deschedule, labeling; zero: none
  power_terms power = {};                          ///< minimizepower
};

struct published_policy {
  policy_key key;
  std::uint64_t revision = 0;
  mode how = mode::enforce;
  herd_damping damping = herd_damping::enabled;
  std::vector<published_strategy> strategies;

  const published_strategy* find(strategy_kind kind) const noexcept {
    for (const auto& s : strategies) {
      if (s.kind == kind) return &s;
    }
    return nullptr;
  }
  /// The strategy that ranks nodes by the watts that a pod would cost; null: there is none.
  const published_strategy* by_watts() const noexcept {
    for (const auto& s : strategies) {
      if (description_of(s.kind).predicts_watts()) return &s;
    }
    return nullptr;
  }
  /// The first strategy that yields it.
  const published_strategy* find(yield what) const noexcept {
    for (const auto& s : strategies) {
      if (description_of(s.kind).yields == what) return &s;
    }
    return nullptr;
  }
};

/// Immutable; replaced as a whole (posted to the faces loop) when the policy set changes.
using policy_table = std::map<policy_key, std::shared_ptr<const published_policy>, std::less<>>;

}  // namespace binnacle::policy
