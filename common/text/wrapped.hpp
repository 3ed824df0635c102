#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace binnacle {

/// `text` in lines that end before column `width`, broken at blanks only; each line after the first stands
/// behind `indent` blanks, and the first is taken to begin there.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = 100);

}  // namespace binnacle
