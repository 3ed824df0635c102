#pragma once

#include "common/error.hpp"
#include "common/metrics/catalog.hpp"

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

/// One series of a *.prom file.
struct prom_series {
  std::string name;
  metrics::label_set labels;  ///< in the file's order
  double value = 0;
  metrics::kind type = metrics::kind::gauge;
  std::string help;

  /// Name and labels, sorted: the same for the same series.
  std::string key() const;
};

/// Parses a whole *.prom text into `out`, nothing half applied. `note` gets a sentence about what was
/// ignored, or stays. Errors: as exposition::parse, "line 3: …".
result<void> parse_prom(std::string_view text, const prom_bounds& bounds, std::vector<prom_series>& out,
                        std::string& note);

}  // namespace binnacle::agent
