#include "common/wire/names.hpp"

#include "common/text/utf8.hpp"
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
  return text.find('\0') == text.npos && find_invalid_utf8(text) == text.npos;
}

bool valid_metric_name(std::string_view name) noexcept { return valid_name(name, true); }
bool valid_label_name(std::string_view name) noexcept { return valid_name(name, false); }

bool valid_node_name(std::string_view name) noexcept {
  const auto edge = [](char c) { return letter(c) || digit(c); };
  if (name.empty() || name.size() > 253 || !edge(name.front()) || !edge(name.back())) return false;
  return std::all_of(name.begin(), name.end(),
                     [&](char c) { return edge(c) || c == '-' || c == '.' || c == '_'; });
}

}  // namespace binnacle::wire
