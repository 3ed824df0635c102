#pragma once

#include "common/clock.hpp"
#include "common/decimal.hpp"
#include "common/quantity.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Small pieces that sentences about decisions are made of. Pure.
namespace binnacle::decision {

/// "180 ms", "12.3 s", "4m10s": an age as a person reads it, precise to a millisecond where that matters.
std::string age_text(duration age);

/// `value` − `target` exactly, rounded to 10^-9; nothing when the value is beyond what a quantity holds.
std::optional<quantity> difference(decimal value, const quantity& target) noexcept;

}  // namespace binnacle::decision
