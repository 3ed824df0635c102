#pragma once

#include "agent/kernel/perf_event.hpp"
#include "common/error.hpp"

#include <memory>
#include <string>
#include <vector>

namespace binnacle::agent {

/// libpfm4's tables: events by their makers' names ("INST_RETIRED:ANY_P", "skx::L2_RQSTS:MISS",
/// "perf::PAGE-FAULTS"), for the PMUs of this machine. The library keeps its state in globals, so use one
/// object at a time, in one thread. Keep it only for a look-up: its tables take 2 MB of memory, and most
/// agents need none of its names, so it is loaded only while the object exists. Source: libpfm4(3).
class pfm_events {
 public:
  pfm_events();
  ~pfm_events();
  pfm_events(const pfm_events&) = delete;
  pfm_events& operator=(const pfm_events&) = delete;

  struct found {
    perf_encoding encoding;
    bool outside_cores = false;  ///< an event outside the cores: counted on that PMU's own CPUs
  };
  /// Errors: not_found (no such event on this machine's PMUs), invalid_input (the event exists, but not its
  /// unit mask or modifier), unsupported (its PMU is not in this kernel).
  result<found> encode(const std::string& name) const;

  /// Every event of this machine's PMUs, as "pmu::EVENT".
  std::vector<std::string> names() const;

 private:
  struct library;  // the loaded functions
  std::unique_ptr<library> library_;
  std::string failed_;  // why the library could not be loaded; empty: it was loaded
};

}  // namespace binnacle::agent
