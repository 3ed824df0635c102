#pragma once

#include "common/clock.hpp"
#include "common/crowd.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>

namespace binnacle {

/// Limits how many tokens of an address are checked, because each check is a call to the API server and
/// anybody can invent a token. A good token costs nothing. Any other token costs its address one of `most`
/// checks; the address gets a check back after `each`. Pure.
class token_ration {
 public:
  static constexpr int most = 32;
  static constexpr duration each = std::chrono::seconds(2);  // how long until a used check is available again
  static constexpr std::size_t most_addresses = 4096;

  /// Takes one check; false if the address has none left now.
  bool take(const network& address, instant now) {
    if (owing_.size() >= most_addresses) forget(now);
    if (owing_.size() >= most_addresses && !owing_.contains(address)) return false;
    instant& paid_at = owing_.try_emplace(address, now).first->second;
    paid_at = std::max(paid_at, now);
    if (paid_at + each > now + most * each) return false;
    paid_at += each;
    return true;
  }
  /// Returns the check that take() took, because the token was good.
  void give_back(const network& address) {
    if (const auto at = owing_.find(address); at != owing_.end()) at->second -= each;
  }

 private:
  void forget(instant now) {
    std::erase_if(owing_, [now](const auto& one) { return one.second <= now; });
  }
  std::map<network, instant> owing_;  // when all checks of an address will be available again
};

}  // namespace binnacle
