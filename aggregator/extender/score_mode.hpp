#pragma once

#include <cstdint>

namespace binnacle::extender {

/// How prioritize scores (--score): by the distance between the nodes' values, or by their order alone, as
/// TAS does.
enum class score_mode : std::uint8_t { value, rank };

}  // namespace binnacle::extender
