#include "common/wire/text.hpp"

#include "common/wire/limits.hpp"

#include <algorithm>

namespace binnacle::wire {
namespace {

constexpr bool letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool valid_name(std::string_view name, bool colon) noexcept {
  if (name.empty() || name.size() > max_name || digit(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [colon](char c) { return letter(c) || digit(c) || c == '_' || (colon && c == ':'); });
}

}  // namespace

bool valid_utf8(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) {
      return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0u;
    };
    const unsigned lead = byte(0);
    std::size_t length = 1;
    unsigned low = 0x80,
             high = 0xbf;  // of the second byte; narrower where a shorter form or a surrogate would fit
    if (lead >= 0x80) {
      if (lead >= 0xc2 && lead <= 0xdf) {
        length = 2;
      } else if (lead >= 0xe0 && lead <= 0xef) {
        length = 3;
        if (lead == 0xe0) low = 0xa0;
        if (lead == 0xed) high = 0x9f;
      } else if (lead >= 0xf0 && lead <= 0xf4) {
        length = 4;
        if (lead == 0xf0) low = 0x90;
        if (lead == 0xf4) high = 0x8f;
      } else {
        return false;
      }
      if (byte(1) < low || byte(1) > high) return false;
      for (std::size_t k = 2; k < length; ++k)
        if (byte(k) < 0x80 || byte(k) > 0xbf) return false;
    } else if (lead == 0) {
      return false;
    }
    i += length;
  }
  return true;
}

bool valid_metric_name(std::string_view name) noexcept { return valid_name(name, true); }
bool valid_label_name(std::string_view name) noexcept { return valid_name(name, false); }

bool valid_node_name(std::string_view name) noexcept {
  const auto edge = [](char c) { return letter(c) || digit(c); };
  if (name.empty() || name.size() > 253 || !edge(name.front()) || !edge(name.back())) return false;
  return std::all_of(name.begin(), name.end(),
                     [&](char c) { return edge(c) || c == '-' || c == '.' || c == '_'; });
}

std::string_view clip(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
  return text.substr(0, limit);
}

}  // namespace binnacle::wire
