#pragma once

#include <cstddef>
#include <string_view>

namespace binnacle {

/// How many letters must be inserted, removed or replaced to turn one word into the other (Levenshtein), if
/// that is less than `limit`; else `limit`. The case of ASCII letters does not count.
/// Bounds: words of more than 300 bytes are not compared, and count as that far apart. Each letter of `a` is
/// compared with fewer than 2 × `limit` letters of `b`. Nothing is allocated.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

/// The same. `work` gets less by the comparisons of two letters that it took, and never below 0.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit, std::size_t& work);

}  // namespace binnacle
