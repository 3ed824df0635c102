#include "common/text/text.hpp"

#include "common/text/read_number.hpp"
#include "common/text/utf8.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

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

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace binnacle
