#pragma once

#include "common/decimal.hpp"
#include "common/text/quantity.hpp"

#include <string>

namespace binnacle {

/// Numbers as people write them, in sentences and tables: "60", "70.5", "-1", "10000000". No exponent, and no
/// zeros at the end of a fraction. (JSON and expositions show all digits of the resolution: to_string.)
std::string plain(decimal d);
std::string plain(const quantity& q);
/// Rounded to at most `digits` digits after the decimal point; "nan", "inf" and "-inf" as they are.
std::string plain(double value, int digits = 9);

}  // namespace binnacle
