#pragma once

#include "common/decimal.hpp"
#include "common/text/quantity.hpp"

#include <optional>

namespace binnacle::decision {

/// `value` − `target` exactly, rounded to 10^-9; nothing when the value is beyond what a quantity holds.
/// Pure.
std::optional<quantity> difference(decimal value, const quantity& target) noexcept;

}  // namespace binnacle::decision
