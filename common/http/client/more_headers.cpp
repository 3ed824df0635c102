#include "common/http/client/more_headers.hpp"

#include "common/system/read_file.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace binnacle::http {
namespace {

constexpr std::size_t most_headers = 32, most_bytes = 64u << 10;

/// Headers that our requests set themselves, headers that belong to a connection, and headers that say who we
/// are.
constexpr std::array<std::string_view, 19> ours{"accept-encoding",
                                                "authorization",
                                                "connection",
                                                "content-encoding",
                                                "content-length",
                                                "content-type",
                                                "cookie",
                                                "date",
                                                "expect",
                                                "host",
                                                "keep-alive",
                                                "proxy-authorization",
                                                "proxy-connection",
                                                "te",
                                                "trailer",
                                                "transfer-encoding",
                                                "upgrade",
                                                "user-agent",
                                                "x-prometheus-remote-write-version"};

/// Source: RFC 9110, 5.6.2.
bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_digit(c) || (lowered(c) >= 'a' && lowered(c) <= 'z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

/// Source: RFC 9110, 5.5. Only ASCII: servers do not agree on what other characters mean.
bool is_value(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); });
}

}  // namespace

result<std::vector<std::pair<std::string, std::string>>> read_headers(const std::vector<std::string>& lines) {
  std::vector<std::pair<std::string, std::string>> out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const auto colon = line.find(':');
    const std::string name(line.substr(0, std::min(colon, line.size())));
    // A line without a valid name may be secret as a whole, so the message gives only its number.
    if (colon == line.npos || !is_token(name))
      return invalid(fmt::format("header {} is not NAME: VALUE, as in X-Scope-OrgID: team-a", i + 1));
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (!is_value(value))
      return invalid(fmt::format("the value of {} is empty or has characters that no header may have", name));
    if (std::ranges::find(ours, lowered(name)) != ours.end())
      return invalid(fmt::format("{} is a header that is set already: leave it out", name));
    if (std::ranges::any_of(out, [&](const auto& h) { return lowered(h.first) == lowered(name); }))
      return invalid(fmt::format("{} is given twice: leave one out", name));
    if (out.size() == most_headers)
      return invalid(fmt::format("there are more than {} headers", most_headers));
    out.emplace_back(name, value);
  }
  return out;
}

result<std::vector<std::pair<std::string, std::string>>> headers_of(const more_headers& from) {
  std::vector<std::string> lines = from.lines;
  if (!from.file.empty()) {
    const auto text = read_file(from.file, most_bytes);
    if (text.has_error()) return text.error();
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t end = std::min(text->find('\n', at), text->size());
      const std::string_view line = trimmed(std::string_view(*text).substr(at, end - at));
      if (!line.empty()) lines.emplace_back(line);
      at = end + 1;
    }
  }
  return read_headers(lines);
}

}  // namespace binnacle::http
