#pragma once

#include <map>
#include <string>

namespace binnacle::async {

/// For each use of TLS files ("ingest certificate"): why its newest files are not in force, in one sentence.
/// A use without an entry has no trouble. Read for warnings and for `binnacle_tls_reload_failed`, on the loop
/// that runs follow_files().
using reload_troubles = std::map<std::string, std::string>;

}  // namespace binnacle::async
