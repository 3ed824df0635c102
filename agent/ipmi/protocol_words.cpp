#include "agent/ipmi/protocol.hpp"
#include "common/text.hpp"

#include <algorithm>
#include <array>

namespace binnacle::ipmi {
namespace {

// In the order of the enumerations.
constexpr std::array<std::string_view, 7> kinds = {"temperature", "fan",   "voltage", "current",
                                                   "power",       "state", "other"};
constexpr std::array<std::string_view, 6> roles = {"none",         "inlet",     "cpu",
                                                   "system_power", "psu_input", "psu_output"};
constexpr std::array<std::string_view, 3> origins = {"sdr", "dcmi", "chassis"};

template <std::size_t N, class Enum>
std::string_view word(const std::array<std::string_view, N>& words, Enum e) noexcept {
  const auto i = static_cast<std::size_t>(e);
  return i < N ? words[i] : std::string_view();
}

template <class Enum, std::size_t N>
Enum enum_of(const std::array<std::string_view, N>& words, std::string_view text, Enum otherwise) noexcept {
  const auto* const found = std::find(words.begin(), words.end(), text);
  return found == words.end() ? otherwise : static_cast<Enum>(found - words.begin());
}

}  // namespace

std::string_view to_string(sensor_kind k) noexcept { return word(kinds, k); }
std::string_view to_string(sensor_role r) noexcept { return word(roles, r); }
std::string_view to_string(sensor_origin o) noexcept { return word(origins, o); }

sensor_kind sensor_kind_of(std::string_view text) noexcept {
  return enum_of(kinds, text, sensor_kind::other);
}
sensor_role sensor_role_of(std::string_view text) noexcept { return enum_of(roles, text, sensor_role::none); }
sensor_origin sensor_origin_of(std::string_view text) noexcept {
  return enum_of(origins, text, sensor_origin::sdr);
}

bool matches(std::string_view pattern, std::string_view text) noexcept {
  // Where the last `*` stands and how much of the text it has taken: on a mismatch it takes one more.
  std::size_t star = pattern.npos, taken = 0, p = 0, t = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || lowered(pattern[p]) == lowered(text[t]))) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace binnacle::ipmi
