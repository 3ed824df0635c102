#include "common/text/glob.hpp"

#include "common/text/text.hpp"

namespace binnacle {

bool matches_glob(std::string_view pattern, std::string_view text) noexcept {
  // The position of the last `*` and how much of the text it has taken. On a mismatch it takes one character
  // more.
  std::size_t star = pattern.npos, taken = 0, p = 0, t = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || lowered(pattern[p]) == lowered(text[t]))) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace binnacle
