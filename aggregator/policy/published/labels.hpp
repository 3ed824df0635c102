#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

/// What the engine wishes for the labels of nodes.
namespace binnacle::policy {

/// What should become of one label of one node.
struct label_wish {
  enum class action : std::uint8_t {
    set,      ///< the node should carry key=value
    remove,   ///< the node should not carry it (if it is ours)
    keep,     ///< leave it as it is: no fresh sample since the start, or too little is known
    blocked,  ///< the node should carry it, but somebody else has set the key: leave the key alone, also when
              ///< it becomes free
  };
  action what = action::keep;
  std::string value;  ///< for set
  friend bool operator==(const label_wish&, const label_wish&) = default;
};

/// By label key. A label that is not in here is not wished for; label_claims says whether it belongs to a
/// policy.
using label_wishes = std::map<std::string, label_wish>;
/// Keys of labels that a node carries and that somebody else gave it.
using taken_keys = std::set<std::string, std::less<>>;

/// Which labels belong to policies that are there. A label that we once wrote and that is not among them is
/// to be removed, from whatever node.
struct label_claims {
  std::set<std::string, std::less<>> keys;    ///< that policies in force may give
  std::set<std::string, std::less<>> unread;  ///< policies that are wrong in part: they keep all their labels
  bool no_policies = false;                   ///< there is no policy at all, so no pod is woken any more

  bool covers(std::string_view label_key) const;
  friend bool operator==(const label_claims&, const label_claims&) = default;
};

/// Adds what one more policy wishes. Only in DryRun do policies of one name in two namespaces
/// share keys: the union holds; for two values the first that was added stays.
void merge(label_wishes& into, const std::string& key, label_wish wish);

}  // namespace binnacle::policy
