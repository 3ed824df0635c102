#include "aggregator/policy/engine/unmeasured.hpp"

#include "common/metrics/family_of.hpp"
#include "common/text/nearest.hpp"
#include "common/wire/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace binnacle::policy {
namespace {

// Each missing name is compared with every family, on the loop that takes agents' values.
constexpr std::size_t most_compared = 4;

}  // namespace

std::string remedy_for_unmeasured(const std::vector<std::string>& missing, const family_names& announced,
                                  std::size_t& work) {
  bool foreign = false;
  for (std::size_t i = 0; i < missing.size() && i < most_compared; ++i) {
    if (metrics::family_of(missing[i]) != nullptr) continue;
    foreign = true;
    const std::string_view near = nearest(missing[i], announced, work);
    if (near.empty() || near == missing[i]) continue;
    return fmt::format("did you mean {}{}?", near,
                       missing.size() == 1 ? "" : fmt::format(" instead of {}", missing[i]));
  }
  const auto odd = std::ranges::find_if_not(missing, wire::valid_metric_name);
  if (odd != missing.end())
    return fmt::format(
        "no agent can have a series called {}: a name is of letters, digits, '_' and ':' and does not begin "
        "with a digit",
        *odd);
  if (!foreign) return "`binnacle-agent --probe` on a node says what it cannot read, and why";
  return "/apis/custom.metrics.k8s.io/v1beta2 lists all names";
}

}  // namespace binnacle::policy
