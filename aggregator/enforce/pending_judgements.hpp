#pragma once

#include "aggregator/kube/objects/reflector.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace binnacle::enforce {

/// Policies that have changed and are not judged yet, so that a status of them would be incomplete. The
/// sender of changes numbers them; the engine's loop says up to which number it has judged. Pure.
class pending_judgements {
 public:
  /// The policy has a new text, which was sent under `number`.
  void changed(const kube::object_key& policy, std::uint64_t number) { by_policy_[policy] = number; }
  void gone(const kube::object_key& policy) { by_policy_.erase(policy); }

  bool awaits(const kube::object_key& policy) const { return by_policy_.contains(policy); }
  /// Whether take(judged) would return any.
  bool any(std::uint64_t judged) const {
    return std::ranges::any_of(by_policy_, [&](const auto& p) { return p.second <= judged; });
  }
  /// Returns the policies that have been judged, and no longer keeps them as pending.
  std::vector<kube::object_key> take(std::uint64_t judged) {
    std::vector<kube::object_key> out;
    std::erase_if(by_policy_, [&](const auto& p) {
      if (p.second > judged) return false;
      out.push_back(p.first);
      return true;
    });
    return out;
  }

 private:
  std::map<kube::object_key, std::uint64_t> by_policy_;
};

}  // namespace binnacle::enforce
