#pragma once

#include "common/wire/messages.hpp"
#include "common/wire/reason.hpp"

namespace binnacle::wire {

/// Whether the other side takes a catalogue with this in it: names, texts, exponent and number of labels
/// within limits.hpp. Errors: bad_catalogue, catalogue_too_large: what is wrong in one sentence.
outcome<void> check(const series_info& s);
outcome<void> check(const group_info& g);

/// bad_catalogue, with the sentence that says why.
fault bad_catalogue(std::string sentence);

}  // namespace binnacle::wire
