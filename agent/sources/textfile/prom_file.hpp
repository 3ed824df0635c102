#pragma once

#include "agent/sources/foreign_series.hpp"
#include "common/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

namespace binnacle::agent {

struct prom_bounds {
  std::size_t bytes = 1u << 20;  ///< of one file
  std::size_t series = 5'000;
};

/// What tells one version of a file from another.
struct file_stamp {
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;  ///< since 1970
  std::int64_t changed_ns = 0;
  friend bool operator==(const file_stamp&, const file_stamp&) = default;

  static file_stamp of(const struct ::stat& s) noexcept;
};

/// Parses a whole *.prom text into `out`, nothing half applied. `note` gets a sentence about what was
/// ignored, or stays. Errors: as exposition::parse, "line 3: …".
result<void> parse_prom(std::string_view text, const prom_bounds& bounds, std::vector<foreign_series>& out,
                        std::string& note);

}  // namespace binnacle::agent
