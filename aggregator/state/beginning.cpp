#include "aggregator/state/beginning.hpp"

#include "aggregator/replicas/state_route.hpp"
#include "aggregator/snapshot/kept_state.hpp"

#include <chrono>
#include <utility>

namespace binnacle::aggregator {
namespace {

// The state of a replica that began with nothing is young for this time.
constexpr duration youth = std::chrono::minutes(1);

}  // namespace

std::vector<kept_state> states_to_go_on_from(std::optional<snapshot> given, std::optional<snapshot> of_file,
                                             const clocks& now) {
  std::vector<kept_state> out;
  const auto add = [&](std::optional<snapshot>& s, bool is_dated) {
    if (!s) return;
    const duration shift = shift_of(*s, now);
    out.push_back({std::move(*s), shift, is_dated});
  };
  add(given, true);  // it was taken a moment ago, whatever the wall clock did since
  add(of_file, of_file && age_of(*of_file, now));
  return out;
}

replicas::worth worth_of(const beginning& began, duration up, bool judges) noexcept {
  using replicas::worth;
  if (!began.is_decided) return worth::nothing;
  if (!began.is_young) return worth::full;
  if (!judges) return worth::nothing;
  return up > youth ? worth::full : worth::young;
}

}  // namespace binnacle::aggregator
