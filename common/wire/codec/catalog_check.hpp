#pragma once

#include "common/wire/messages.hpp"
#include "common/wire/reason.hpp"

namespace binnacle::wire {

/// Whether the other side accepts a catalog that holds this: names, texts, exponent and number of labels
/// within limits.hpp. Errors: bad_catalogue, catalogue_too_large, with one sentence about the fault.
outcome<void> check(const series_info& s);
outcome<void> check(const group_info& g);

/// A fault with the reason bad_catalogue and this sentence.
fault bad_catalogue(std::string sentence);

}  // namespace binnacle::wire
