#pragma once

#include "cli/doctor/finding.hpp"
#include "common/tls/context.hpp"

#include <chrono>
#include <string>

namespace binnacle::cli::doctor {

/// The PEM files of one side of a connection, and what they are for.
struct certificate_files {
  std::string whose;  ///< "the agent's"
  tls::files pem;
  std::string node;  ///< that the certificate must speak for; empty: none
  /// Somebody else's files: what this user may not read is not a failure.
  bool foreign = false;
};

/// Whether they can be read, belong together, are in order, valid now, and for what they are used for.
/// Blocks: reads them.
findings look_at(const certificate_files& files, std::chrono::system_clock::time_point now);

}  // namespace binnacle::cli::doctor
