#include "agent/ipmi/packed_name.hpp"

namespace binnacle::ipmi {

std::string unpacked_name(std::span<const std::uint8_t> packed) {
  std::string name;
  unsigned bits = 0, held = 0;
  for (const std::uint8_t byte : packed) {
    bits |= static_cast<unsigned>(byte) << held;
    for (held += 8; held >= 6; held -= 6) {
      name += static_cast<char>(' ' + (bits & 0x3f));
      bits >>= 6;
    }
  }
  name.erase(name.find_last_not_of(' ') + 1);
  return name;
}

}  // namespace binnacle::ipmi
