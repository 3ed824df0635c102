#pragma once

#include "aggregator/policy/engine/rule_state.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace binnacle::policy {

/// Which labels a labeling strategy can give, made once per strategy.
class label_plan {
 public:
  static constexpr std::uint16_t none = 0xffff;

  explicit label_plan(const strategy& s);

  struct offer {
    std::uint16_t rule;
    std::string value;
  };
  struct key {
    std::string name;
    std::vector<offer> offers;  ///< in spec order
    bool one_direction =
        true;  ///< true: all offering rules look for larger values, all for smaller ones, or all Equals
  };
  const std::vector<key>& keys() const noexcept { return keys_; }
  /// Some key is given by more than one rule, so that values decide.
  bool contested() const noexcept { return contested_; }

  /// Decides which rule gives each key (`none`: no rule does), into `winners`, one per key, which holds the
  /// previous outcome. This is TAS's rule, made deterministic. Of the true rules that give a key, the one
  /// with the largest value wins if they look for larger values, and the one with the smallest value if they
  /// look for smaller ones. With equal values, and with Equals, the first in spec order wins. If true rules
  /// of different directions give one key, no rule gives any key, as in TAS. While the value of a contender
  /// is missing, the previous winner stays, if it still contends. A rule that loses a key still gives its
  /// other keys. `values`: one per rule, needed if contested(). Returns true if a winner changed.
  bool resolve(const strategy& s, std::span<const rule_state> rules, bool labelled,
               std::span<const std::optional<decimal>> values, std::span<std::uint16_t> winners) const;

 private:
  std::vector<key> keys_;
  bool contested_ = false;
};

}  // namespace binnacle::policy
