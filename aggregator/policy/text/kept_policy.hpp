#pragma once

#include "aggregator/policy/policy.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle::policy {

/// A version of a policy that outlives the process, because the object or file as it is now may say something
/// else: an edit was wrong, or would take too much. A policy has two versions at most.
struct kept_policy {
  policy value;
  std::string source;     ///< as policy_set calls it: the file's path, or "TASPolicy default/power"
  bool read = false;      ///< the last one of which everything was right (policy_set)
  bool in_force = false;  ///< the last one that was affordable (affordable)
};

/// The policy as a TASPolicy in YAML, which parse_policies() reads as the same policy again.
std::string manifest_of(const policy& p);
/// The policy of such a manifest; none: the text is not one policy that is right as a whole.
std::optional<policy> policy_of_manifest(std::string_view manifest);

/// An upper bound of the memory that it takes, and of the length of its manifest.
std::size_t size_of(const kept_policy& k) noexcept;

}  // namespace binnacle::policy
