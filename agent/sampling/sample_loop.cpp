#include "agent/sampling/sample_loop.hpp"

#include <algorithm>

namespace binnacle::agent {

async::task<void> sample_loop(sampler* what, std::shared_ptr<async::event> look_again,
                              std::function<void()> after) {
  for (;;) {
    const auto next = what->next_deadline();
    const auto now = boot_clock::now();
    // Boot time goes on while the machine sleeps, but the timer's clock does not. So the span is computed
    // anew for each wait.
    const auto until =
        next == instant::max() ? async::never : async::within(std::max(next - now, duration::zero()));
    // Wait even if the tick is already over. Otherwise sources that take longer than their period would
    // starve the links.
    if (co_await look_again->wait(until)) continue;
    if (what->run(boot_clock::now())) after();
  }
}

}  // namespace binnacle::agent
