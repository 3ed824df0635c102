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

/// "node7", "node7:9110", "10.0.0.5", "fd00::5", "[fd00::5]:9110". Nothing for anything else, port 0
/// included.
std::optional<endpoint> read_endpoint(std::string_view text, std::uint16_t default_port);

/// "node7:9110", "[fd00::5]:9110".
std::string to_string(const endpoint& e);

}  // namespace binnacle
