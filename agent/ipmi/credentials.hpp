#pragma once

#include "common/error.hpp"

#include <string>
#include <string_view>

namespace binnacle::ipmi {

/// The user and keys with which we log in to a BMC over LAN. They are never printed, logged or sent anywhere
/// but to FreeIPMI.
struct credentials {
  std::string user;
  std::string password;
  std::string k_g;  ///< the BMC key of two-key authentication, as bytes; usually empty
  friend bool operator==(const credentials&, const credentials&) = default;
};

/// Reads lines "user: …", "password: …" and optionally "k_g: …" (text, or hexadecimal after 0x). A line that
/// begins with '#' is a comment. A value ends with its line; blanks at both ends and quotes around it are
/// removed. Errors: invalid_input, which names the line but never its content.
result<credentials> parse_credentials(std::string_view text);

/// Reads the file. Errors: not_found, permission (also if users other than owner and group may read it), io,
/// invalid_input. Blocks: for one read.
result<credentials> load_credentials(const std::string& path);

}  // namespace binnacle::ipmi
