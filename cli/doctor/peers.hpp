#pragma once

#include "cli/doctor/finding.hpp"
#include "common/error.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace binnacle::cli::doctor {

/// What to do about a peer that gave no answer. `what` is what should listen there ("binnacle-aggregator's
/// ops port (9102)").
std::string unreachable_remedy(errc code, std::string_view what);

/// What a peer's clock showed, with our clock's times before and after the question: the difference of the
/// clocks is known only as exactly as the time that the answer took.
struct clock_reading {
  std::string whose;
  std::chrono::system_clock::time_point theirs, asked, answered;
};
/// What a difference of clocks means: nothing for verdicts (ages are measured on one clock), much for
/// certificates. Pure.
finding finding_of_clock(const clock_reading& r);

}  // namespace binnacle::cli::doctor
