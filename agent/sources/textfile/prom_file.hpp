#pragma once

#include "agent/sources/foreign_series.hpp"
#include "common/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

struct prom_bounds {
  std::size_t bytes = 1u << 20;  ///< of one file
  std::size_t series = 5'000;
};

/// Parses a whole *.prom text into `out`, or nothing of it on an error. If something was ignored, `note` gets
/// a sentence about it; otherwise `note` is unchanged. Errors: those of exposition::parse, "line 3: …".
result<void> parse_prom(std::string_view text, const prom_bounds& bounds, std::vector<foreign_series>& out,
                        std::string& note);

}  // namespace binnacle::agent
