#include "common/text/text.hpp"

#include "common/text/read_number.hpp"
#include "common/text/utf8.hpp"

namespace binnacle {

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lowered(c);
  return out;
}

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) noexcept {
  return read_number<std::uint64_t>(trimmed(text));
}

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  return read_number<std::int64_t>(trimmed(text));
}

std::string in_quotes(std::string_view text, std::size_t most) {
  return '"' + printable(clean_utf8(clip(text, most))) + (text.size() > most ? "…\"" : "\"");
}

std::string host_and_port(std::string_view host, std::uint16_t port) {
  const std::string name = host.empty()                  ? "*"
                           : host.find(':') != host.npos ? '[' + std::string(host) + ']'
                                                         : std::string(host);
  return name + ':' + std::to_string(port);
}

}  // namespace binnacle
