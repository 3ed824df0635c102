#pragma once

#include "common/error.hpp"

#include <string>
#include <string_view>

namespace binnacle::ipmi {

/// Who we are to a BMC over LAN. Never printed, logged or sent anywhere but to FreeIPMI.
struct credentials {
  std::string user;
  std::string password;
  std::string k_g;  ///< the BMC key of two-key authentication, as bytes; mostly empty
  friend bool operator==(const credentials&, const credentials&) = default;
};

/// Lines "user: …", "password: …" and optionally "k_g: …" (as text, or hexadecimal after 0x); '#' begins a
/// comment at the start of a line; values end with the line, blanks at both ends removed, quotes around them
/// as well. Errors: invalid_input, naming the line but never its content.
result<credentials> parse_credentials(std::string_view text);

/// Reads the file. Errors: not_found, permission (also when others than owner and group may read it), io,
/// invalid_input. Blocks: one read.
result<credentials> load_credentials(const std::string& path);

}  // namespace binnacle::ipmi
