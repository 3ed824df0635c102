#pragma once

#include "aggregator/predict/curve.hpp"
#include "common/error.hpp"

namespace binnacle::predict {

/// The straight line from what a node draws idle to what it draws with all `cores` busy, both in watts: all
/// that can be said of a node that was never measured, by itself or by one like it, if somebody knows the two
/// from its data sheet. A server's true curve is off such a line by 8 to 9 % in the median.
/// Errors: invalid_input, a clause for people, if the two are no such watts: not above 0, mixed up, or so far
/// from what machines draw that they must be in another unit.
result<curve> rated_line(double idle, double peak, double cores);

}  // namespace binnacle::predict
