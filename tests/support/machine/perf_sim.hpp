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

/// perf_event_open(2) of a machine that this one is not: hands out real descriptors that give, for one
/// read(2) each, what the kernel would. Counts rise by a rate of the test's for as long as their group is on
/// the PMU.
class perf_sim {
 public:
  agent::perf_opener opener();

  /// Counts a second of an event on one CPU; 1000 unless told.
  std::function<double(const agent::perf_encoding&, unsigned cpu)> rate = [](const auto&, unsigned) {
    return 1000.0;
  };
  /// errno that refuses an event; 0 lets it in.
  std::function<int(const agent::perf_request&)> refusal = [](const auto&) { return 0; };
  /// Share of the time that a group of so many hardware events is on the PMU.
  std::function<double(std::size_t events)> running = [](std::size_t) { return 1.0; };
  /// Opening one more fails with EMFILE.
  std::size_t most_descriptors = 1'000'000;
  /// Their descriptors give nothing any more.
  std::set<unsigned> offline;

  /// Lets time pass and puts one reading into every group that is still open, as opening an event does.
  void advance(duration by);

  /// All requests so far, in order.
  const std::vector<agent::perf_request>& requests() const noexcept { return requests_; }
  /// Descriptors that were handed out and are not closed.
  std::size_t open_descriptors();

 private:
  struct event {
    agent::perf_encoding encoding;
    descriptor peer;  // of the socket that was handed out
    std::uint64_t count = 0;
  };
  struct group {
    unsigned cpu = 0;
    int leader = -1;
    bool hardware = false;
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
