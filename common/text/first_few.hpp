#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace binnacle {

/// "a, b and 3 more": the first `most` of the words, and how many more there are.
std::string first_few(std::span<const std::string> words, std::size_t most);
/// The same of words that are the first ones of `count`.
std::string first_few(std::span<const std::string> words, std::size_t most, std::size_t count);

}  // namespace binnacle
