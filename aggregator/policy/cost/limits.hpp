#pragma once

#include "aggregator/policy/cost/cost.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What policies may take of the aggregator, and whether what they take is within that.
namespace binnacle::policy {

/// What is limited.
enum class resource : std::uint8_t { memory, columns, label_keys, rules, evaluations };
inline constexpr std::array all_resources{resource::memory, resource::columns, resource::label_keys,
                                          resource::rules, resource::evaluations};
/// "memory", "columns", "labelKeys", "rules", "evaluations".
std::string_view to_string(resource r) noexcept;

/// How much of the resource `r` the cost `c` is in a fleet of `nodes` nodes: bytes, columns, keys, rules, or
/// evaluations a second.
std::uint64_t amount_of(const cost& c, resource r, std::size_t nodes) noexcept;
/// "2.1 GiB", "193 columns", "1 label key", "12.5 million evaluations a second".
std::string amount_text(resource r, std::uint64_t amount);

/// For whom a limit holds: one policy, the policies of one namespace, all policies.
enum class scope : std::uint8_t { policy, name_space, all };

struct cost_limits {
  std::uint64_t memory_bytes = 512ull << 20;
  std::uint64_t columns = 1'000;
  std::uint64_t label_keys = 512;
  std::uint64_t rules = 20'000;
  std::uint64_t evaluations = 200'000'000;  ///< in a second
  /// The part of each of these limits that one policy may take, and the policies of one namespace together.
  unsigned policy_percent = 50, namespace_percent = 75;

  std::uint64_t of(resource r, scope whose) const noexcept;
  /// The first resource whose limit `c` exceeds; none if it is within all limits.
  std::optional<resource> exceeded(const cost& c, scope whose, std::size_t nodes) const noexcept;
  /// The largest fleet at which `c` is within the limits; the largest number there is if none matters.
  std::size_t most_nodes(const cost& c, scope whose) const noexcept;
};

/// Takes off the memory limit of policies what snapshots of the core need (--state, --state-from): a quarter,
/// and at most the largest size of a snapshot for each one that may exist at once. Returns how large one
/// snapshot may be, in bytes. Two may exist at once: for an hour after a restart the one that the core
/// started from, and the one that is being written. `with_replicas`: a third one may be on its way to another
/// replica.
std::size_t keep_for_snapshots(cost_limits& limits, bool with_replicas) noexcept;
inline constexpr std::size_t largest_snapshot = std::size_t{128} << 20;

}  // namespace binnacle::policy
