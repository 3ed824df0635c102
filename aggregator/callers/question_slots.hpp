#pragma once

#include "common/crowd.hpp"

#include <cstddef>
#include <map>

namespace binnacle::callers {

/// Places for questions that are under way, shared by the addresses that they come from. An address gets
/// another place while it has fewer than are free. So one address takes half of them, two take a third each,
/// and a caller from elsewhere finds one. Ordered: no hash that a peer could choose its addresses by. Pure.
class question_slots {
 public:
  explicit question_slots(std::size_t most) noexcept : free_(most) {}

  /// False: not now. Otherwise give_back() must follow.
  bool take(const network& address) {
    const auto at = taken_.find(address);
    if ((at == taken_.end() ? 0 : at->second) >= free_) return false;
    ++taken_[address];
    --free_;
    return true;
  }
  void give_back(const network& address) {
    const auto at = taken_.find(address);
    if (--at->second == 0) taken_.erase(at);
    ++free_;
  }

 private:
  std::size_t free_;
  std::map<network, std::size_t> taken_;
};

}  // namespace binnacle::callers
