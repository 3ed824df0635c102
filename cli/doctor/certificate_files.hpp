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
  std::string node;  ///< the node that the certificate must speak for; empty: none
  /// The files belong to another user's program: not being able to read them is no failure.
  bool foreign = false;
};

/// Checks that the files can be read, belong together, are valid now, and fit their purpose. Blocks while it
/// reads them.
findings look_at(const certificate_files& files, std::chrono::system_clock::time_point now);

}  // namespace binnacle::cli::doctor
