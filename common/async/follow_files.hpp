#pragma once

#include "common/async/task.hpp"
#include "common/log/log.hpp"
#include "common/tls/context.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace binnacle::async {

/// For each use of TLS files ("ingest certificate"): why its newest files are not in force, in one sentence.
/// A use without an entry has no trouble. Read for warnings and for `binnacle_tls_reload_failed`, on the loop
/// that runs follow_files().
using reload_troubles = std::map<std::string, std::string>;

/// Looks at the context's files every `period` until cancelled. New files are taken over, broken ones are
/// reported once, and a certificate that nobody renews gets a warning. `what` names the use of the files in
/// the log ("ingest certificate"). The entry of `what` in `troubles` is there while the newest files are
/// broken.
task<void> follow_files(std::shared_ptr<tls::context> context, std::string what, logger log,
                        std::chrono::seconds period = std::chrono::seconds(5),
                        std::shared_ptr<reload_troubles> troubles = nullptr);

}  // namespace binnacle::async
