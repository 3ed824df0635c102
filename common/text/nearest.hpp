#pragma once

#include <string_view>
#include <vector>

namespace binnacle {

/// The word among `known` that `word` was probably meant to be (case apart, a few letters different), or "".
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace binnacle
