#pragma once

#include "common/decimal.hpp"
#include "common/error.hpp"

#include <compare>
#include <iosfwd>
#include <string>
#include <string_view>

namespace binnacle {

/// A Kubernetes resource.Quantity as a number: a signed 128-bit count of 10^-9, so |value| < 1.7e29. That
/// covers every value that kube-apiserver prints correctly. Source:
/// k8s.io/apimachinery/pkg/api/resource/quantity.go, and observations of it (tests/data/quantity): finer
/// digits round away from zero; binary suffixes cap at 2^63-1.
struct quantity {
  __int128 nano = 0;

  friend std::strong_ordering operator<=>(const quantity&, const quantity&) noexcept = default;
};

/// Exact comparison of a metric value with a target; never overflows.
std::strong_ordering compare(decimal value, const quantity& target) noexcept;

/// Parses "20500m", "1.5", "1Ki", "2e3", "-0.5".
/// Errors: invalid_input, with the text quoted and the form expected. Stricter than Go where Go has quirks:
/// at least one digit is needed ("." and "Ki" are refused) and exponents beyond ±400 or values beyond 1.7e29
/// are refused.
result<quantity> parse_quantity(std::string_view text);

quantity from_integer(std::int64_t value) noexcept;

/// Canonical DecimalSI text ("20500m", "1k", "0"), as the API server prints it. |value| is limited to 2^63-1,
/// because Go prints larger numbers wrongly.
std::string canonical(const quantity& q);
std::string canonical(decimal d);

std::ostream& operator<<(std::ostream& out, const quantity& q);

}  // namespace binnacle
