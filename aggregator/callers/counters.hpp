#pragma once

#include <cstdint>

namespace binnacle::callers {

/// What a gatekeeper has answered.
struct gatekeeper_counters {
  std::uint64_t let_in = 0, unauthorized = 0, forbidden = 0, rationed = 0, unavailable = 0;
  std::uint64_t asked = 0, remembered = 0;  ///< reviews
};

/// How agent_tokens has answered.
struct token_counters {
  std::uint64_t asked = 0;        ///< TokenReviews
  std::uint64_t remembered = 0;   ///< answered from memory
  std::uint64_t vouched = 0;      ///< answered from memory, because the API server was away
  std::uint64_t failed = 0;       ///< not answered
  std::uint64_t turned_away = 0;  ///< the queue was full
};

}  // namespace binnacle::callers
