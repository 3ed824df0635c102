#pragma once

#include "agent/base/source.hpp"
#include "tests/agent/support.hpp"
#include "tests/support/machine/perf_sim.hpp"
#include "tests/support/machine/pmu_tree.hpp"
#include "tests/support/temp_folder.hpp"

#include <chrono>

namespace binnacle::agent::test {

/// A simulated machine with PMUs, its clock, and a board for a source that counts on it.
struct perf_machine {
  explicit perf_machine(const support::pmu_machine& machine) { write_pmu_tree(sys.path(), machine); }

  void pass(duration time) {
    sim.advance(time);
    clock.now += time;
  }
  bool read(source& from, duration pause = std::chrono::seconds(1)) {
    pass(pause);
    return from.read(out).has_value();
  }
  /// Lets the source find everything and read twice.
  void warm_up(source& from) {
    REQUIRE(from.discover(out));
    REQUIRE(read(from));
    REQUIRE(read(from));
  }

  support::temp_folder sys;
  support::perf_sim sim;
  fake_clock clock;
  board out;
};

}  // namespace binnacle::agent::test
