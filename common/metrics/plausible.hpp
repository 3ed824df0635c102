#pragma once

#include "common/metrics/catalog.hpp"

#include <string>

/// What values of our own metrics can be at all. One place for all who ask: the linter (a target outside is a
/// slip of the pen) and the scores (a value outside is no measurement, so its node has none).
/// The bounds are wide: what any real machine says lies within, also its odd sensors. So a value outside
/// tells of a broken sensor or of a lie, and a lie within is one that an honest machine might tell.
namespace binnacle::metrics {

/// By the family's unit, unless the family says otherwise.
plausible_range plausible(const family& f) noexcept;

/// Of the name that was resolved, in that name's unit; everything, if it is none of our metrics.
plausible_range plausible(const resolved& name);

/// For people: "a ratio is between 0 and 1", "watts of a node lie between 0 and 100000". Empty: everything is
/// plausible.
std::string plausible_text(const family& f);

}  // namespace binnacle::metrics
