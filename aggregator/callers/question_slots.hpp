#pragma once

#include "common/crowd.hpp"

#include <cstddef>
#include <map>

namespace binnacle::callers {

/// Places for running questions, shared among the callers' addresses. An address gets another place while it
/// holds fewer places than are free. So one address can take half of them, two a third each, and a caller
/// from another address still finds a place. The map is ordered, because a peer could choose addresses whose
/// hashes collide. Pure.
class question_slots {
 public:
  explicit question_slots(std::size_t most) noexcept : free_(most) {}

  /// True: the address has a place, and give_back() must follow. False: there is none for it now.
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
