#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace binnacle {

/// `text` in lines that end before column `width`, broken at blanks only. Each line after the first begins
/// with `indent` blanks; the first is taken to begin at that column, too.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = 100);

}  // namespace binnacle
