#pragma once

#include <string_view>

namespace binnacle {

/// Whether `text` is of this form: `*` any run of characters, `?` any one; without regard to case (ASCII).
bool matches_glob(std::string_view pattern, std::string_view text) noexcept;

}  // namespace binnacle
