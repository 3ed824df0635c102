#pragma once

#include <cstdint>

namespace binnacle::store {

/// What the store has seen. Written by the ingest loop.
struct warehouse_counters {
  std::uint64_t batches = 0, values = 0, absences = 0;
  std::uint64_t derived = 0;          ///< column samples made
  std::uint64_t evaluated = 0;        ///< of batches and catalogs: times that a plan's members were looked at
  std::uint64_t refused_batches = 0;  ///< of the wrong catalog or with a series that it does not have
  std::uint64_t refused_catalogs = 0;                   ///< out of bounds as a whole
  std::uint64_t refused_series = 0, refused_names = 0;  ///< names taken by another series, or too long
  std::uint64_t forgotten = 0;                          ///< nodes away for too long
  std::uint64_t clamped_reads = 0;  ///< read times before boot or in the future, brought to the nearer end
};

}  // namespace binnacle::store
