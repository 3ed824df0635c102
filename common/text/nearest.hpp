#pragma once

#include <string_view>
#include <vector>

namespace binnacle {

/// The word in `known` that `word` was probably meant to be (the case or a few letters differ); "" if there
/// is none.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace binnacle
