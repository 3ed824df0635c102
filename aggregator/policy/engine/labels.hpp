#pragma once

#include "aggregator/policy/engine/rule_state.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The labels that deschedule and labeling give, as TAS writes them.
namespace binnacle::policy {

constexpr std::string_view violating_value = "violating";

/// deschedule's key: the policy's name, without prefix or namespace.
std::string deschedule_key(const policy_key& key);
/// labeling's key: "telemetry.aware.scheduling.<policy name>/<label key>".
std::string labeling_key(const policy_key& key, std::string_view label);
/// The name of the policy whose label this key would be.
std::string_view policy_of(std::string_view label_key) noexcept;
/// Whether a label of that key and value can be one that we wrote.
bool can_be_ours(std::string_view label_key, std::string_view value) noexcept;

/// What should become of one label of one node.
struct label_wish {
  enum class action : std::uint8_t {
    set,      ///< the node should carry key=value
    remove,   ///< the node should not carry it (if it is ours)
    keep,     ///< leave it as it is: no fresh sample since the start, or too little is known
    blocked,  ///< it should, but somebody else's label has the key; to be left alone also when that goes
  };
  action what = action::keep;
  std::string value;  ///< for set
  friend bool operator==(const label_wish&, const label_wish&) = default;
};

/// By label key. What is not in here is not wished for; whether it belongs to a policy at all, label_claims
/// says.
using label_wishes = std::map<std::string, label_wish>;
/// Keys of labels that a node carries and that somebody else gave it.
using taken_keys = std::set<std::string, std::less<>>;

/// Which labels belong to policies that are there. A label that we once wrote and that is not among them is
/// to be removed, from whatever node.
struct label_claims {
  std::set<std::string, std::less<>> keys;    ///< that policies in force may give
  std::set<std::string, std::less<>> unread;  ///< names of policies that are wrong in part: all of theirs
  bool no_policies = false;                   ///< there is none at all: nobody's pods are woken any more

  bool hold(std::string_view label_key) const {
    return keys.contains(label_key) || unread.contains(policy_of(label_key));
  }
  friend bool operator==(const label_claims&, const label_claims&) = default;
};

/// Adds what one more policy wishes. Policies of one name in two namespaces share keys: the union holds; for
/// two values the first that was added stays.
void merge(label_wishes& into, const std::string& key, label_wish wish);

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
        true;  ///< all offering rules look for larger values, all for smaller ones, or all Equals
  };
  const std::vector<key>& keys() const noexcept { return keys_; }
  /// Some key is given by more than one rule, so that values decide.
  bool contested() const noexcept { return contested_; }
  /// Keys whose rules differ in their direction: where two such rules are true, a node gets no label at all.
  std::vector<std::string> mixed() const;

  /// Decides which rule gives each key (`none`: no rule does), into `winners`, one per key, which holds the
  /// previous outcome. TAS's rule made deterministic: among the true rules that give the key the largest
  /// value wins where they look for larger ones, the smallest where for smaller ones; ties and Equals: the
  /// first in spec order. Where true rules of different directions give one key, no rule gives any key, as in
  /// TAS. While a contender's value is missing the previous winner stays, if it still contends. A loser gives
  /// its other keys all the same. `values`: one per rule, needed if contested(). Returns true if a winner
  /// changed.
  bool resolve(const strategy& s, std::span<const rule_state> rules, bool labelled,
               std::span<const std::optional<decimal>> values, std::span<std::uint16_t> winners) const;

 private:
  std::vector<key> keys_;
  bool contested_ = false;
};

}  // namespace binnacle::policy
