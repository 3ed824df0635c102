#include "aggregator/policy/published/published.hpp"

namespace binnacle::policy {

std::string_view to_string(state s) noexcept {
  switch (s) {
    case state::pass: return "pass";
    case state::violating: return "violating";
    case state::missing: return "missing";
    case state::held: return "held";
    case state::frozen: return "frozen";
  }
  return "?";
}

}  // namespace binnacle::policy
