#pragma once

#include "aggregator/kube/client/client.hpp"
#include "aggregator/kube/election/election.hpp"
#include "common/async/task.hpp"

#include <functional>
#include <memory>

namespace binnacle::kube {

/// Takes part in the election until cancelled, and calls `after` after each step. Ask election::leads()
/// before every write, and not only in `after`: leadership also ends just because time passes. `machine` and
/// what `after` uses must outlive the coroutine. Include from .cpp files only.
async::task<void> campaign(std::shared_ptr<client> api, election& machine, std::function<void()> after);

/// Gives the Lease back after the campaign has ended, so that the next replica need not wait.
async::task<void> resign(std::shared_ptr<client> api, election& machine, async::deadline until);

}  // namespace binnacle::kube
