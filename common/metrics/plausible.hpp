#pragma once

#include "common/metrics/families.hpp"

#include <string>

/// The values that our own metrics can have at all. Two users ask this: the linter (a target outside is a
/// typing error) and the scores (a value outside is no measurement, so its node has none). The bounds are
/// wide: any real machine, also with odd sensors, stays inside. So a value outside shows a broken sensor or a
/// lie, and a lie inside is a value that an honest machine could have, too.
namespace binnacle::metrics {

/// The range of the family's unit, unless the family has a range of its own.
plausible_range plausible(const family& f) noexcept;

/// The range for a resolved name, in that name's unit; unlimited if it is none of our metrics.
plausible_range plausible(const resolved& name);

/// A sentence for people: "a ratio is between 0 and 1", "watts of a node lie between 0 and 100000". Empty if
/// every value is plausible.
std::string plausible_text(const family& f);

}  // namespace binnacle::metrics
