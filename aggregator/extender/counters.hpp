#pragma once

#include "aggregator/decision/record.hpp"
#include "common/metrics/histogram.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace binnacle::extender {

/// From the last piece of a request to its answer, in microseconds.
using latency_histogram = metrics::histogram<14>;
/// In milliseconds. The bounds 1050 and 250 are one period plus 50 ms, for sources read at 1 Hz and at 5 Hz.
using age_histogram = metrics::histogram<20>;

constexpr latency_histogram make_latency_histogram() {
  return latency_histogram({100, 250, 500, 1000, 2000, 3000, 5000, 10'000, 25'000, 50'000, 100'000, 250'000,
                            1'000'000, 5'000'000});
}
constexpr age_histogram make_age_histogram() {
  return age_histogram({10,   25,   50,   100,  150,  200,  250,  300,    500,    750,
                        1000, 1050, 1100, 1500, 2000, 3000, 5000, 10'000, 30'000, 60'000});
}

struct verb_counters {
  std::array<std::uint64_t, decision::outcomes> answered{};  ///< by decision::outcome
  std::uint64_t bad_request = 0;                             ///< answered 4xx
  latency_histogram latency_us = make_latency_histogram();   ///< answered requests only
};

/// A value that did not count as it was. An empty node means that there has been none.
struct odd_value {
  std::string node, metric;
  instant at{};
};

/// What the extender did, for the scrape endpoint. Written by the faces loop alone.
struct counters {
  std::array<verb_counters, decision::all_verbs.size()> by_verb{};  ///< see of()
  std::array<std::uint64_t, decision::candidate_outcomes>
      candidates{};                    ///< by decision::candidate_outcome, in decided requests
  std::uint64_t dry_run_refusals = 0;  ///< refused nodes that passed because of DryRun
  std::uint64_t beyond = 0;            ///< values far outside the others' range, counted as its end
  odd_value last_beyond;          ///< the last one so far out that a sensor or agent is likely to be wrong
  std::uint64_t implausible = 0;  ///< impossible values, which counted as absent
  odd_value last_implausible;
  age_histogram oldest_age_ms = make_age_histogram();  ///< of the oldest value that each decision used

  verb_counters& of(decision::verb v) noexcept { return by_verb[static_cast<std::size_t>(v)]; }
  const verb_counters& of(decision::verb v) const noexcept { return by_verb[static_cast<std::size_t>(v)]; }
};

}  // namespace binnacle::extender
