#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aggregator/policy/policy.hpp"
#include "aggregator/store/shared_column.hpp"

/// What the policy engine (ingest loop) shows to the faces: an immutable table of policies whose verdict cells are atomic.
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
  bool violating = false;      ///< the label is (would be) on: true for violating and, as it was, for frozen
  std::uint16_t rule = 0;      ///< index of the first rule that decided
  std::uint16_t unknown = 0;   ///< how many rules had no value
};

class verdict_column {
 public:
  void store(store::node_id id, verdict v) noexcept { cells_.grow(id).store(pack(v), std::memory_order_release); }
  verdict load(store::node_id id) const noexcept {
    const auto* cell = cells_.find(id);
    return cell == nullptr ? verdict{} : unpack(cell->load(std::memory_order_acquire));
  }

 private:
  static std::uint64_t pack(verdict v) noexcept {
    return static_cast<std::uint64_t>(v.what) | static_cast<std::uint64_t>(v.violating) << 8 |
           static_cast<std::uint64_t>(v.rule) << 16 | static_cast<std::uint64_t>(v.unknown) << 32;
  }
  static verdict unpack(std::uint64_t bits) noexcept {
    return {static_cast<state>(bits & 0xff), (bits >> 8 & 1) != 0, static_cast<std::uint16_t>(bits >> 16 & 0xffff),
            static_cast<std::uint16_t>(bits >> 32 & 0xffff)};
  }
  store::node_array<std::atomic<std::uint64_t>> cells_;
};

struct published_rule {
  rule definition;
  std::string text;                                  ///< definition.text(), made once
  std::shared_ptr<const store::shared_column> values;  ///< exactly what the rule compared
};

struct published_strategy {
  strategy_kind kind = strategy_kind::dontschedule;
  logic op = logic::any_of;
  missing on_missing = missing::allow;
  std::vector<published_rule> rules;
  std::shared_ptr<const verdict_column> verdicts;  ///< null for scheduleonmetric
};

struct published_policy {
  policy_key key;
  std::uint64_t revision = 0;
  mode how = mode::enforce;
  std::vector<published_strategy> strategies;

  const published_strategy* find(strategy_kind kind) const noexcept {
    for (const auto& s : strategies) {
      if (s.kind == kind) return &s;
    }
    return nullptr;
  }
};

/// Immutable; replaced as a whole (posted to the faces loop) when the policy set changes.
using policy_table = std::map<policy_key, std::shared_ptr<const published_policy>, std::less<>>;

}  // namespace binnacle::policy
