#include "aggregator/kube/events/send_events.hpp"

namespace binnacle::kube {

using async::task;
using async::within;

namespace {
constexpr auto write_deadline = std::chrono::seconds(10);
constexpr duration look_for_quiet = std::chrono::minutes(1);  // for series that have become quiet
}  // namespace

task<void> send_events(std::shared_ptr<client> api, event_recorder& machine, async::event& news) {
  for (;;) {
    const instant now = boot_clock::now();
    auto due = machine.next(now, std::chrono::system_clock::now());
    if (!due) {
      const duration pause = std::min(machine.wakes(now).value_or(instant::max()) - now, look_for_quiet);
      (void)co_await news.wait(within(std::max(pause, duration::zero())));
      continue;
    }
    auto got = co_await api->ask(std::move(*due), within(write_deadline));
    if (got.has_error()) {
      machine.broke(got.error(), boot_clock::now());
    } else {
      machine.answered(*got, boot_clock::now());
    }
  }
}

}  // namespace binnacle::kube
