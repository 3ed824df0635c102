#include "common/text/json_writer.hpp"

#include "common/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace binnacle {
namespace {

/// Whether none of these eight characters needs an escape or a check: printable ASCII, neither a quote nor a
/// backslash. DEL and all beyond it have their highest bit, or have it when one is added.
bool all_plain(std::uint64_t eight) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101, highs = 0x80 * ones;
  const auto has_zero = [](std::uint64_t v) { return (v - ones) & ~v & highs; };
  const std::uint64_t below_space = (eight - 0x20 * ones) & ~eight & highs;
  return (below_space | has_zero(eight ^ '"' * ones) | has_zero(eight ^ '\\' * ones) |
          ((eight | (eight + ones)) & highs)) == 0;
}

/// How many characters at the beginning may go into a JSON string unchanged. May be fewer than possible.
std::size_t plain_begin(std::string_view text) noexcept {
  std::size_t i = 0;
  for (std::uint64_t eight = 0; i + sizeof eight <= text.size(); i += sizeof eight) {
    std::memcpy(&eight, text.data() + i, sizeof eight);
    if (!all_plain(eight)) return i;
  }
  const auto is_plain = [](char c) {
    return c >= ' ' && c != '"' && c != '\\';
  };  // char may be signed or not
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x7f && is_plain(text[i])) ++i;
  return i;
}

/// Appends `before`, `text` in quotes, and `after` in one piece, if `text` is plain and all of it is short,
/// as most texts are. False, and nothing appended, if not.
bool append_plain(std::string& out, std::string_view before, std::string_view text, std::string_view after) {
  std::array<char, 128> piece;
  if (text.size() + before.size() + after.size() + 2 > piece.size() || plain_begin(text) != text.size())
    return false;
  char* end = piece.data();
  const auto add = [&end](std::string_view more) { end = std::copy(more.begin(), more.end(), end); };
  add(before);
  *end++ = '"';
  add(text);
  *end++ = '"';
  add(after);
  out.append(piece.data(), end);
  return true;
}

/// \u and the four digits of one UTF-16 unit.
void append_unit(std::string& out, char32_t unit) {
  static constexpr std::string_view hex = "0123456789abcdef";
  out += "\\u";
  for (const int shift : {12, 8, 4, 0}) out += hex[unit >> shift & 0xf];
}

void append_escaped(std::string& out, char32_t c) {
  switch (c) {
    case U'"': out += "\\\""; return;
    case U'\\': out += "\\\\"; return;
    case U'\n': out += "\\n"; return;
    case U'\r': out += "\\r"; return;
    case U'\t': out += "\\t"; return;
    default: break;
  }
  constexpr char32_t beyond_one_unit = 0x10000;
  if (c < beyond_one_unit) return append_unit(out, c);
  append_unit(out, 0xd800 + ((c - beyond_one_unit) >> 10));
  append_unit(out, 0xdc00 + ((c - beyond_one_unit) & 0x3ff));
}

/// Whether the character stays as it is in a JSON string.
bool is_clean(char32_t c) noexcept { return c < 0x7f ? c >= 0x20 && c != U'"' && c != U'\\' : !is_unseen(c); }

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  if (append_plain(out, "", text, "")) return;
  out += '"';
  std::size_t clean = 0;  // text[clean, i) needs no escaping
  for (std::size_t i = plain_begin(text); i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t length = c < 0x80 ? 1 : utf8_length(text.substr(i));
    const char32_t code = length > 1 ? code_point(text.substr(i, length)) : c;
    if (length != 0 && is_clean(code)) {
      i += length;
      continue;
    }
    out.append(text, clean, i - clean);
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else {
      append_escaped(out, code);
    }
    i += std::max<std::size_t>(length, 1);
    clean = i;
  }
  out.append(text, clean);
  out += '"';
}

std::string pretty_json(std::string_view compact) {
  std::string out;
  out.reserve(compact.size() * 2);
  std::size_t depth = 0;
  const auto new_line = [&] {
    out += '\n';
    out.append(depth * 2, ' ');
  };
  for (std::size_t i = 0; i < compact.size(); ++i) {
    const char c = compact[i];
    switch (c) {
      case '"': {
        std::size_t end = i + 1;
        while (end < compact.size() && compact[end] != '"') end += compact[end] == '\\' ? 2 : 1;
        out.append(compact, i, end + 1 - i);
        i = end;
        break;
      }
      case '{':
      case '[':
        out += c;
        if (i + 1 < compact.size() && (compact[i + 1] == '}' || compact[i + 1] == ']')) {
          out += compact[++i];
        } else {
          ++depth;
          new_line();
        }
        break;
      case '}':
      case ']':
        if (depth > 0) --depth;
        new_line();
        out += c;
        break;
      case ',':
        out += c;
        new_line();
        break;
      case ':': out += ": "; break;
      default: out += c;
    }
  }
  return out;
}

void json_writer::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if ((filled_ & 1) != 0) out_ += ',';
  filled_ |= 1;
}

json_writer& json_writer::open(char bracket) {
  separate();
  out_ += bracket;
  filled_ <<= 1;
  return *this;
}

json_writer& json_writer::close(char bracket) {
  out_ += bracket;
  filled_ >>= 1;
  return *this;
}

json_writer& json_writer::key(std::string_view name) {
  const bool follows = !after_key_ && (filled_ & 1) != 0;
  if (append_plain(out_, follows ? "," : "", name, ":")) {
    filled_ |= 1;
  } else {
    separate();
    append_json_string(out_, name);
    out_ += ':';
  }
  after_key_ = true;
  return *this;
}

json_writer& json_writer::value(std::string_view text) {
  separate();
  append_json_string(out_, text);
  return *this;
}

json_writer& json_writer::figure(double v, int digits) {
  return std::isfinite(v) ? raw(fmt::format("{:.{}f}", v, digits)) : null();
}

json_writer& json_writer::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

}  // namespace binnacle
