#include "aggregator/state/beginning.hpp"

#include "aggregator/replicas/state_route.hpp"
#include "aggregator/snapshot/snapshot.hpp"

#include <chrono>

namespace binnacle::aggregator {
namespace {

// The state of a replica that began with nothing is young for this time.
constexpr duration youth = std::chrono::minutes(1);

}  // namespace

beginning::origin choose_origin(const snapshot* of_file, const snapshot* given, bool given_is_young,
                                const clocks& now) {
  using enum beginning::origin;
  if (given == nullptr) return of_file == nullptr ? nothing : file;
  if (of_file == nullptr) return replica;
  return !given_is_young && age_of(*given, now) < age_of(*of_file, now) ? replica : file;
}

replicas::worth worth_of(const beginning& began, duration up, bool judges) noexcept {
  using replicas::worth;
  if (!began.is_decided) return worth::nothing;
  if (!began.is_young || up > youth) return worth::full;
  return judges ? worth::young : worth::nothing;
}

}  // namespace binnacle::aggregator
