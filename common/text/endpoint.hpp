#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle {

/// Where something listens, or is to be reached.
struct endpoint {
  std::string host;  ///< a name or an address, without brackets
  std::uint16_t port = 0;
};

/// Reads "node7", "node7:9110", "10.0.0.5", "fd00::5" or "[fd00::5]:9110". Nothing for any other text, also
/// for port 0.
std::optional<endpoint> read_endpoint(std::string_view text, std::uint16_t default_port);

/// Reads an address to listen on: ":9103" (host is empty: every address of both families), "127.0.0.1:9103",
/// "[::1]:9103". The port must be given; 0 means any port. Nothing for any other text.
std::optional<endpoint> read_listen_address(std::string_view text);

/// A port from 1 to 65535; nothing for any other text.
std::optional<std::uint16_t> read_port(std::string_view text);

/// The parts of "https://HOST:PORT/path?query". Nothing is checked or decoded, and only the scheme is
/// changed.
struct url_parts {
  std::string scheme;          ///< "https", in lower case, as RFC 3986 wants it; empty when there is none
  std::string_view authority;  ///< "HOST:PORT", a user or password with it
  std::string_view rest;       ///< from the first '/', '?' or '#' on; may be empty
};
url_parts split_url(std::string_view url);

/// True if every character may stand in a URL: no space, no control character, nothing beyond ASCII.
bool may_stand_in_url(std::string_view text) noexcept;

/// "node7:9110", "[fd00::5]:9110".
std::string to_string(const endpoint& e);

}  // namespace binnacle
