#include "aggregator/kube/election/campaign.hpp"

#include "common/async/timers.hpp"

namespace binnacle::kube {

using async::task;
using async::within;

task<void> campaign(std::shared_ptr<client> api, election& machine, std::function<void()> after) {
  for (;;) {
    election::action todo = machine.next(boot_clock::now(), std::chrono::system_clock::now());
    if (!todo.call) {
      co_await async::sleep_for(todo.within);
      continue;
    }
    auto got = co_await api->ask(std::move(*todo.call), within(todo.within));
    if (got.has_error()) {
      machine.broke(got.error(), boot_clock::now());
    } else {
      machine.answered(*got, boot_clock::now());
    }
    after();
  }
}

task<void> resign(std::shared_ptr<client> api, election& machine, async::deadline until) {
  auto last = machine.release(boot_clock::now(), std::chrono::system_clock::now());
  if (!last) co_return;
  // If this call fails, the Lease expires by itself.
  (void)co_await api->ask(std::move(*last), until);
}

}  // namespace binnacle::kube
