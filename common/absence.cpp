#include "common/absence.hpp"

#include <algorithm>
#include <array>

namespace binnacle {
namespace {

// In the order of `absence`.
constexpr std::array<std::string_view, 18> absence_names = {
    "none",        "not_read_yet", "missing",     "permission",  "malformed",    "timeout",
    "no_data",     "reset",        "gap",         "not_running", "out_of_range", "frozen",
    "never_moved", "stands_still", "implausible", "stale",       "disconnected", "other",
};
static_assert(absence_names.size() == static_cast<std::size_t>(absence::other) + 1);

}  // namespace

std::string_view to_string(absence reason) noexcept {
  const auto i = static_cast<std::size_t>(reason);
  return i < absence_names.size() ? absence_names[i] : absence_names.back();
}

absence absence_of(std::string_view name) noexcept {
  const auto* const found = std::find(absence_names.begin(), absence_names.end(), name);
  return found == absence_names.end() ? absence::other : static_cast<absence>(found - absence_names.begin());
}

}  // namespace binnacle
