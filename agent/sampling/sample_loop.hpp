#pragma once

#include "agent/sampling/sampler.hpp"
#include "common/async/task.hpp"
#include "common/async/timers.hpp"

#include <functional>
#include <memory>

namespace binnacle::agent {

/// Lets the sampler `what` read each time a source is due, until cancelled, and calls `after` when it has
/// read. `look_again` makes the loop ask for the next deadline again, for example because a period changed.
/// `what` must outlive the coroutine. Include from .cpp files only.
async::task<void> sample_loop(sampler* what, std::shared_ptr<async::event> look_again,
                              std::function<void()> after);

}  // namespace binnacle::agent
