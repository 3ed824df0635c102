#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace binnacle {

/// "a, b and 3 more": the first `most` of the words, and the number of the others.
std::string first_few(std::span<const std::string> words, std::size_t most);
/// The same if `words` holds only the first ones of `count` words.
std::string first_few(std::span<const std::string> words, std::size_t most, std::size_t count);

}  // namespace binnacle
