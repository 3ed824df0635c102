#include "common/http/target.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::http {
namespace {

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Percent-decodes (RFC 3986 2.1). With `form`, "+" is a space (WHATWG URL,
/// application/x-www-form-urlencoded).
bool decode(std::string_view text, bool form, std::string& out) {
  out.clear();
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && form) {
      out.push_back(' ');
    } else if (text[i] != '%') {
      out.push_back(text[i]);
    } else {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      // %00 is refused: none of our names holds a NUL, and a NUL ends strings in many places.
      if (high < 0 || low < 0 || high + low == 0) return false;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return true;
}

error malformed_escape() {
  return {errc::invalid_input, "the request target holds a malformed percent escape or %00: write % as %25"};
}

}  // namespace

result<void> parse_target(std::string_view target, request& out) {
  out.target = target;
  out.path.clear();
  out.query.clear();
  // RFC 9112 3.2.2: a server must accept the absolute form, too.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const auto path = target.find_first_of("/?", scheme.size());
    target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
  }
  if (target.empty() || (target.front() != '/' && target.front() != '?')) {
    return error{errc::invalid_input, "the request target must begin with /"};
  }
  target = target.substr(0, target.find('#'));
  const auto question = target.find('?');
  std::string_view path = target.substr(0, question);
  if (path.starts_with('/')) path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  for (std::string_view rest = path; !rest.empty();) {
    const auto slash = rest.find('/');
    if (!decode(rest.substr(0, slash), false, out.path.emplace_back())) return malformed_escape();
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
    if (rest.empty()) out.path.emplace_back();
  }
  if (question == std::string_view::npos) return {};
  for (std::string_view rest = target.substr(question + 1); !rest.empty();) {
    const auto pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const auto equals = pair.find('=');
    auto& [name, value] = out.query.emplace_back();
    if (!decode(pair.substr(0, equals), true, name)) return malformed_escape();
    if (equals != std::string_view::npos && !decode(pair.substr(equals + 1), true, value))
      return malformed_escape();
  }
  return {};
}

result<std::string> percent_decoded(std::string_view text) {
  std::string out;
  if (!decode(text, false, out)) return malformed_escape();
  return out;
}

std::string query_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace binnacle::http
