#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace binnacle {

/// The word in `known` that `word` was probably meant to be (the case or a few letters differ); "" if there
/// is none.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

/// The same for words that come from outside. `work` says how many comparisons of two letters it may still
/// take (a look at a word counts as some). It gets less; when it is used up, nothing is found.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known,
                         std::size_t& work);

}  // namespace binnacle
