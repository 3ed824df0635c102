#pragma once

#include "common/async/task.hpp"
#include "common/log.hpp"
#include "common/tls/context.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace binnacle::async {

/// Looks at the context's files every `period` until cancelled: new ones are taken over, broken ones reported
/// once, and a certificate that nobody renews is warned of. `what` names its use in the log ("ingest
/// certificate"). `trouble` holds why the newest files were not taken over, or nothing.
task<void> follow_files(std::shared_ptr<tls::context> context, std::string what, logger log,
                        std::chrono::seconds period = std::chrono::seconds(5),
                        std::shared_ptr<std::string> trouble = nullptr);

}  // namespace binnacle::async
