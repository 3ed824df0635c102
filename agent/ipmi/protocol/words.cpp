#include "agent/ipmi/protocol/protocol.hpp"

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

}  // namespace binnacle::ipmi
