#include "aggregator/outliers/power_comparison.hpp"

#include "common/async/timers.hpp"
#include "common/clock.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace binnacle::aggregator {

// In slices of well under a millisecond, since the scheduler waits on this loop.
async::task<void> power_comparison::keep_looking() {
  constexpr std::size_t nodes_per_slice = 200;
  for (;;) {
    co_await async::sleep_for(between_looks_);
    power_.clear();
    std::string last;
    for (bool more = true; more;) {
      auto at = nodes_.nodes().upper_bound(last);
      for (std::size_t i = 0; i < nodes_per_slice && at != nodes_.nodes().end(); ++i, ++at) {
        last = at->first;
        if (auto reading = power_of(*at->second, boot_clock::now())) power_.push_back(*std::move(reading));
      }
      more = at != nodes_.nodes().end();
      if (more) co_await async::sleep_for(std::chrono::milliseconds(1));
    }
    name_outliers();
  }
}

void power_comparison::name_outliers() {
  const auto before = outliers_.named();
  const instant now = boot_clock::now();
  outliers_.look(power_, now);
  if (outliers_.named() == before) return;
  for (const auto& [name, known] : nodes_.nodes()) {
    const auto odd = outliers_.named().find(name);
    if (odd == outliers_.named().end() && known->warning.empty()) continue;
    auto said = odd == outliers_.named().end() ? std::string() : sentence_of(name, odd->second);
    if (said != known->warning) log_change(name, said, now);
    nodes_.node(known->id, name).warning = std::move(said);
  }
  std::erase_if(logged_, [this](const auto& one) { return !nodes_.nodes().contains(one.first); });
}

// A sensor that drops out again and again changes the sentence each time, and must not fill the log.
void power_comparison::log_change(const std::string& node, const std::string& said, instant now) {
  const auto last = logged_.find(node);
  if (!said.empty()) {
    if (last != logged_.end() && now - last->second < between_lines) return;
    logged_[node] = now;
    log_.warning("{}", said);
  } else if (std::ranges::binary_search(power_, node, {}, &power_reading::node)) {
    if (last != logged_.end()) logged_.erase(last);
    log_.info("node {}: host_power_watts no longer stands out from that of similar nodes", node);
  }
}

}  // namespace binnacle::aggregator
