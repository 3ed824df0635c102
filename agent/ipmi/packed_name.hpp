#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace binnacle::ipmi {

/// The text of a name in packed 6-bit ASCII, without blanks at its end: four characters in three bytes, from
/// the lowest bits on, each counted from the space. FreeIPMI gives such bytes as they are. Source: IPMI 2.0,
/// 43.15.
std::string unpacked_name(std::span<const std::uint8_t> packed);

}  // namespace binnacle::ipmi
