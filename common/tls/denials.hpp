#pragma once

#include "common/clock.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace binnacle::tls {

/// What a port has seen of certificates whose serial number is denied (pem_files::denied).
struct denials {
  std::uint64_t count = 0;
  instant last{};
  std::string from = {};  ///< the last one's address

  void add(std::string address, instant now) {
    ++count;
    last = now;
    from = std::move(address);
  }
};

}  // namespace binnacle::tls
