#pragma once

#include "agent/kernel/perf_event.hpp"
#include "common/clock.hpp"
#include "common/system/descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace binnacle::support {

/// perf_event_open(2) of a simulated machine. It gives out real descriptors; each read(2) returns what the
/// kernel would return. Counts rise at a rate that the test sets, as long as their group is on the PMU.
class perf_sim {
 public:
  agent::perf_opener opener();

  /// Counts per second of an event on one CPU; 1000 by default.
  std::function<double(const agent::perf_encoding&, unsigned cpu)> rate = [](const auto&, unsigned) {
    return 1000.0;
  };
  /// The errno with which an event is refused; 0: it is accepted.
  std::function<int(const agent::perf_request&)> refusal = [](const auto&) { return 0; };
  /// The share of the time during which a group of so many hardware events is on the PMU.
  std::function<double(std::size_t events)> running = [](std::size_t) { return 1.0; };
  /// To open one more fails with EMFILE.
  std::size_t most_descriptors = 1'000'000;
  /// The CPUs that are offline: their descriptors give nothing any more.
  std::set<unsigned> offline;
  /// The CPU goes offline and is back at once. What is open on it never counts again, and of a group only the
  /// first event is left. What is opened from now on counts.
  void blink(unsigned cpu);

  /// Lets time pass, and puts one reading into every open group, as opening an event also does.
  void advance(duration by);

  /// All requests so far, in order.
  const std::vector<agent::perf_request>& requests() const noexcept { return requests_; }
  /// How many of the descriptors that were given out are still open.
  std::size_t open_descriptors();

 private:
  struct event {
    agent::perf_encoding encoding;
    descriptor peer;  // the other end of the socket that was given out
    std::uint64_t count = 0;
  };
  struct group {
    unsigned cpu = 0;
    int leader = -1;
    bool hardware = false;
    bool removed = false;  // from its CPU
    std::vector<event> events;
    std::uint64_t enabled_ns = 0, running_ns = 0;
  };
  descriptor open(const agent::perf_request& wanted);
  void put_reading(const group& g);
  void forget_closed();

  std::vector<agent::perf_request> requests_;
  std::vector<group> groups_;
};

}  // namespace binnacle::support
