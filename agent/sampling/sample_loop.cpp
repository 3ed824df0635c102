#include "agent/sampling/sample_loop.hpp"

#include <algorithm>

namespace binnacle::agent {

async::task<void> sample_loop(sampler* what, std::shared_ptr<async::event> look_again,
                              std::function<void()> after) {
  for (;;) {
    const auto next = what->next_deadline();
    const auto now = boot_clock::now();
    // Boot time goes on while the machine sleeps, the timer's clock does not. So each wait takes the span
    // anew.
    const auto until =
        next == instant::max() ? async::never : async::within(std::max(next - now, duration::zero()));
    // Also when the tick is over already: sources that take longer than their period must not starve the
    // links.
    if (co_await look_again->wait(until)) continue;
    if (what->run(boot_clock::now())) after();
  }
}

}  // namespace binnacle::agent
