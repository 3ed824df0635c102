#pragma once

#include "common/async/reload_troubles.hpp"
#include "common/async/task.hpp"
#include "common/log/log.hpp"
#include "common/tls/context.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace binnacle::async {

/// Looks at the context's files every `period` until cancelled. New files are taken over, broken ones are
/// reported once, and a certificate that nobody renews gets a warning. `what` names the use of the files in
/// the log ("ingest certificate"). The entry of `what` in `troubles` is there while the newest files are
/// broken.
task<void> follow_files(std::shared_ptr<tls::context> context, std::string what, logger log,
                        std::chrono::seconds period = std::chrono::seconds(5),
                        std::shared_ptr<reload_troubles> troubles = nullptr);

}  // namespace binnacle::async
