#pragma once

#include "common/async/task.hpp"
#include "common/log/log.hpp"
#include "common/tls/context.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace binnacle::async {

/// Why the newest files of a use ("ingest certificate") were not taken over, in one sentence; no entry: they
/// were. Read for warnings and `binnacle_tls_reload_failed`, on the loop of those that follow.
using reload_troubles = std::map<std::string, std::string>;

/// Looks at the context's files every `period` until cancelled: new ones are taken over, broken ones reported
/// once, and a certificate that nobody renews is warned of. `what` names its use in the log ("ingest
/// certificate"); its entry of `troubles` comes and goes.
task<void> follow_files(std::shared_ptr<tls::context> context, std::string what, logger log,
                        std::chrono::seconds period = std::chrono::seconds(5),
                        std::shared_ptr<reload_troubles> troubles = nullptr);

}  // namespace binnacle::async
