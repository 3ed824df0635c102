#include "agent/report/scrub.hpp"

#include "common/text/text.hpp"
#include "common/text/utf8.hpp"

#include <algorithm>
#include <optional>

namespace binnacle::agent {
namespace {

constexpr std::string_view address = "(address)";
constexpr std::string_view name_left_out = "(name)";

bool is_hex(char c) { return is_digit(c) || (lowered(c) >= 'a' && lowered(c) <= 'f'); }
bool is_word(char c) { return is_digit(c) || (lowered(c) >= 'a' && lowered(c) <= 'z'); }

// How many characters at the front of `text` are hexadecimal digits.
std::size_t hex_run(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_hex) - text.begin());
}

// The length of a hardware address at the front of `text`: at least six pairs of digits, with the same
// separator between all of them.
std::optional<std::size_t> hardware_address(std::string_view text) {
  constexpr std::size_t least_pairs = 6;
  constexpr std::string_view marks = ":-_";
  if (hex_run(text) != 2 || text.size() < 3 || marks.find(text[2]) == marks.npos) return std::nullopt;
  std::size_t pairs = 1, end = 2;
  const auto ends_at = [&](std::size_t at) { return at >= text.size() || !is_word(text[at]); };
  while (end < text.size() && text[end] == text[2] && hex_run(text.substr(end + 1)) == 2 &&
         ends_at(end + 3)) {
    ++pairs;
    end += 3;
  }
  return pairs >= least_pairs ? std::optional(end) : std::nullopt;
}

// The length of a name such as "enx34885d010203" at the front. systemd makes it of the address, for an
// interface that has no better name.
std::optional<std::size_t> name_by_address(std::string_view text) {
  constexpr std::size_t digits = 12;
  if (text.size() < 3 || text[2] != 'x' || hex_run(text.substr(3)) != digits) return std::nullopt;
  return 3 + digits;
}

// The length of an IPv4 address at the front: four numbers up to 255 with points between them, not followed
// by more of the same.
std::optional<std::size_t> ipv4_address(std::string_view text) {
  std::size_t at = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && (at >= text.size() || text[at] != '.')) return std::nullopt;
    if (part > 0) ++at;
    const auto end = std::min(text.find_first_not_of("0123456789", at), text.size());
    const auto number = parse_unsigned(text.substr(at, end - at));
    if (end - at > 3 || !number || *number > 255) return std::nullopt;
    at = end;
  }
  const bool goes_on =
      at < text.size() &&
      (is_word(text[at]) || (text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1])));
  return goes_on ? std::nullopt : std::optional(at);
}

// The length of an IPv6 address at the front: eight groups of digits with colons between them, or fewer with
// "::" in place of the others.
std::optional<std::size_t> ipv6_address(std::string_view text) {
  const auto end = std::min(
      static_cast<std::size_t>(std::ranges::find_if_not(text, [](char c) { return is_hex(c) || c == ':'; }) -
                               text.begin()),
      text.size());
  if (end < text.size() && is_word(text[end])) return std::nullopt;  // a word such as "cafe::EVENT"
  const auto whole = text.substr(0, end);
  constexpr std::ptrdiff_t colons = 7;
  const bool shortened = whole.find("::") != whole.npos && whole.size() > 2;
  return shortened || std::ranges::count(whole, ':') == colons ? std::optional(end) : std::nullopt;
}

bool is_at(std::string_view text, std::size_t at, std::string_view name) {
  if (text.size() - at < name.size()) return false;
  const auto part = text.substr(at, name.size());
  if (!std::ranges::equal(
          part, name, {}, [](char c) { return lowered(c); }, [](char c) { return lowered(c); }))
    return false;
  return at + name.size() == text.size() || !is_word(text[at + name.size()]);
}

}  // namespace

std::string scrubbed(std::string_view text, const std::vector<std::string>& names) {
  constexpr std::size_t shortest_name = 3;
  const auto clean = printable(clean_utf8(text));
  const std::string_view all = clean;
  std::string out;
  for (std::size_t at = 0; at < all.size();) {
    const bool begins = at == 0 || !is_word(all[at - 1]);
    if (begins) {
      auto length = hardware_address(all.substr(at));
      if (!length) length = name_by_address(all.substr(at));
      if (!length) length = ipv6_address(all.substr(at));
      if (!length && (at == 0 || all[at - 1] != '.')) length = ipv4_address(all.substr(at));
      if (length) {
        out += address;
        at += *length;
        continue;
      }
      const auto name = std::ranges::find_if(
          names, [&](const auto& n) { return n.size() >= shortest_name && is_at(all, at, n); });
      if (name != names.end()) {
        out += name_left_out;
        at += name->size();
        continue;
      }
    }
    out += all[at++];
  }
  return out;
}

}  // namespace binnacle::agent
