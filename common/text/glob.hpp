#pragma once

#include <string_view>

namespace binnacle {

/// Whether `text` matches `pattern`: `*` is any run of characters, `?` any one character. Case does not
/// matter (ASCII).
bool matches_glob(std::string_view pattern, std::string_view text) noexcept;

}  // namespace binnacle
