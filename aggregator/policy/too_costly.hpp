#pragma once

#include "aggregator/policy/policy.hpp"

#include <string>

namespace binnacle::policy {

/// A policy of which another version, or none, is in force because it would take too much.
struct too_costly {
  policy_key policy;
  bool last_version_stays = false;  ///< the one that was in force before it was edited
  std::string message;              ///< a sentence: the figures, what stays, and what would be cheaper
};

/// The message.
inline std::string too_costly_text(std::string figures, bool last_version_stays, std::string_view remedy) {
  figures +=
      last_version_stays ? "; its last good version stays in force: " : "; no version of it is in force: ";
  return figures.append(remedy);
}

}  // namespace binnacle::policy
