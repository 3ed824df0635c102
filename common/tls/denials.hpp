#pragma once

#include "common/clock.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace binnacle::tls {

/// Counts the certificates with a denied serial number (tls::files::denied) that a port has seen.
struct denials {
  std::uint64_t count = 0;
  instant last{};
  std::string from = {};  ///< address of the last peer

  void add(std::string address, instant now) {
    ++count;
    last = now;
    from = std::move(address);
  }
};

}  // namespace binnacle::tls
