#include "common/text/label_syntax.hpp"

#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle {
namespace {

// std::isalnum depends on the locale.
bool lower(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool alphanumeric(char c) noexcept { return lower(c) || (c >= 'A' && c <= 'Z'); }

}  // namespace

bool is_label_name(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 63 && alphanumeric(text.front()) && alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_dns_subdomain(std::string_view text) noexcept {
  if (text.empty() || text.size() > 253) return false;
  for (;;) {
    const auto dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    if (part.empty() || !lower(part.front()) || !lower(part.back())) return false;
    if (!std::all_of(part.begin(), part.end(), [](char c) { return lower(c) || c == '-'; })) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

std::string label_key_flaw(std::string_view key) {
  const auto slash = key.find('/');
  const bool right = slash == std::string_view::npos
                         ? is_label_name(key)
                         : is_dns_subdomain(key.substr(0, slash)) && is_label_name(key.substr(slash + 1));
  if (right) return {};
  return fmt::format(
      "{} is not a label key: an optional DNS prefix and '/', then at most 63 letters, digits, '-', '_', "
      "'.', "
      "alphanumeric at both ends",
      in_quotes(key));
}

std::string label_value_flaw(std::string_view value) {
  if (value.empty() || is_label_name(value)) return {};
  return fmt::format(
      "{} is not a label value: at most 63 letters, digits, '-', '_', '.', alphanumeric at both ends",
      in_quotes(value));
}

}  // namespace binnacle
