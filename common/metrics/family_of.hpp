#pragma once

#include "common/metrics/families.hpp"

#include <string_view>

namespace binnacle::metrics {

/// The family of ours that `name` means: the family of that name, the family of an alias, or the longest
/// family of which `name` is a flat name. Null: `name` is none of ours.
const family* family_of(std::string_view name);
/// The same for a name that is known not to be an alias.
const family* family_meant(std::string_view name);

/// The name of a family or an alias that `name` was probably meant to be; "" if there is none.
std::string_view nearest_name(std::string_view name);

}  // namespace binnacle::metrics
