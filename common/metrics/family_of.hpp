#pragma once

#include "common/metrics/catalog.hpp"

#include <string_view>

namespace binnacle::metrics {

/// The family of ours that a name means: itself, an alias's, or the longest that it is a flat name of; null:
/// none of ours.
const family* family_of(std::string_view name);
/// The same for a name that is no alias.
const family* family_meant(std::string_view name);

}  // namespace binnacle::metrics
