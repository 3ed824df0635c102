#pragma once

namespace binnacle::predict {

/// What the median of published servers draws at a load 0..1, as a share of what it draws at 1. Straight
/// lines between 0, 10 … 100 %. Source: 93 single-node SPECpower_ssj2008 results published 2020-24.
double median_shape(double load) noexcept;

}  // namespace binnacle::predict
