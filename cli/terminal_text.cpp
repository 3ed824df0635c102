#include "cli/terminal_text.hpp"

#include "common/text/utf8.hpp"

#include <algorithm>
#include <cstdlib>
#include <cwchar>
#include <langinfo.h>
#include <locale.h>

namespace binnacle::cli {
namespace {

constexpr std::size_t most_marks = 4;  // ncurses drops what is more: CCHARW_MAX, less the letter

/// The first character of `text`, or one byte that is none.
std::string_view front(std::string_view text) noexcept {
  return text.substr(0, std::max<std::size_t>(1, utf8_length(text)));
}

/// The character in the locale's encoding, which is UTF-8 if the locale knows any but ASCII.
wchar_t code_of(std::string_view character) noexcept {
  std::mbstate_t state{};
  wchar_t code = 0;
  return std::mbrtowc(&code, character.data(), character.size(), &state) == character.size() ? code : -1;
}

bool is_ascii(std::string_view character) noexcept { return static_cast<unsigned char>(character[0]) < 0x80; }

/// -1: not known. Of printable() text: a control character has one here.
int width(std::string_view character) noexcept {
  if (is_ascii(character)) return 1;  // nearly all text: not worth two calls of the C library
  if (MB_CUR_MAX == 1 && character.size() > 1) return 1;  // ASCII alone is known, and most have one column
  return ::wcwidth(code_of(character));
}

/// Whether some terminals draw it as one with the character before, and others beside it. Source: the Unicode
/// Character Database, emoji-data.txt: Emoji_Modifier; PropList.txt: Regional_Indicator.
bool may_join(std::string_view character) noexcept {
  if (is_ascii(character)) return false;
  const wchar_t c = code_of(character);
  return (c >= 0x1f3fb && c <= 0x1f3ff) || (c >= 0x1f1e6 && c <= 0x1f1ff);
}

}  // namespace

void know_characters() noexcept {
  setlocale(LC_CTYPE, "");
  if (std::string_view(nl_langinfo(CODESET)) != "UTF-8") setlocale(LC_CTYPE, "C.UTF-8");
}

std::string for_terminal(std::string_view text) {
  const std::string clean = printable(text);
  std::string out;
  out.reserve(clean.size());
  bool after_letter = false;
  std::size_t marks = 0;  // of the last letter
  for (std::string_view left = clean; !left.empty();) {
    const std::string_view character = front(left);
    left.remove_prefix(character.size());
    const int columns = width(character);
    if (columns == 0 && after_letter) {
      if (++marks <= most_marks) out += character;
      continue;
    }
    after_letter = columns > 0;
    marks = 0;
    if (columns > 0 && !may_join(character))
      out += character;
    else
      out += '?';
  }
  return out;
}

std::size_t columns_of(std::string_view text) noexcept {
  std::size_t columns = 0;
  while (!text.empty()) {
    const std::string_view character = front(text);
    const int known = width(character);
    columns += known < 0 ? 1 : static_cast<std::size_t>(known);
    text.remove_prefix(character.size());
  }
  return columns;
}

std::string shortened(std::string_view text, std::size_t most) {
  if (columns_of(text) <= most) return std::string(text);
  if (most == 0) return {};
  std::size_t end = 0, used = 0;
  while (end < text.size()) {
    const std::string_view character = front(text.substr(end));
    used += columns_of(character);
    if (used > most - 1) break;
    end += character.size();
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace binnacle::cli
