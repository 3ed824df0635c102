#pragma once

#include "aggregator/kube/client/client.hpp"
#include "aggregator/kube/events/event_recorder.hpp"
#include "common/async/task.hpp"
#include "common/async/timers.hpp"

#include <memory>

namespace binnacle::kube {

/// Writes the events of `machine` until cancelled. Notify `news` after each record(). Both must outlive the
/// coroutine. Include from .cpp files only.
async::task<void> send_events(std::shared_ptr<client> api, event_recorder& machine, async::event& news);

}  // namespace binnacle::kube
