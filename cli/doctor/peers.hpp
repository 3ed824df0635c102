#pragma once

#include "cli/doctor/finding.hpp"
#include "common/error.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace binnacle::cli::doctor {

/// What to do about a peer that gave no answer. `what` is the program that should listen there
/// ("binnacle-aggregator's ops port (9102)").
std::string unreachable_remedy(errc code, std::string_view what);

/// The time that a peer's clock showed, and our clock's times before and after the question. The difference
/// of the clocks is known only to half the time that the answer took.
struct clock_reading {
  std::string whose;
  std::chrono::system_clock::time_point theirs, asked, answered;
};
/// Judges a difference of clocks. It does not matter for verdicts, because ages are measured on one clock; it
/// matters for certificates. Pure.
finding finding_of_clock(const clock_reading& r);

}  // namespace binnacle::cli::doctor
