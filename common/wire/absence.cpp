#include "common/wire/messages.hpp"

#include <algorithm>
#include <array>

namespace binnacle::wire {
namespace {

// In the order of `absence`.
constexpr std::array<std::string_view, 18> names = {
    "none",        "not_read_yet", "missing",     "permission",  "malformed",    "timeout",
    "no_data",     "reset",        "gap",         "not_running", "out_of_range", "frozen",
    "never_moved", "stands_still", "implausible", "stale",       "disconnected", "other",
};
static_assert(names.size() == static_cast<std::size_t>(absence::other) + 1);

}  // namespace

std::string_view to_string(absence reason) noexcept {
  const auto i = static_cast<std::size_t>(reason);
  return i < names.size() ? names[i] : names.back();
}

absence absence_of(std::string_view name) noexcept {
  const auto* const found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? absence::other : static_cast<absence>(found - names.begin());
}

}  // namespace binnacle::wire
