#pragma once

#include "common/error.hpp"
#include "common/text/endpoint.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// Whom to probe, and how.
struct path_peer {
  std::string name;   ///< the label `peer`
  bool icmp = false;  ///< echo requests instead of TCP connections
  endpoint at;        ///< port 0 with icmp
};

/// Parses "node8:9110" or "[fd00::8]:9110" (TCP) or "icmp:10.0.0.1", each also as "NAME=…". Without NAME= the
/// text itself is the name. Errors: invalid_input with the expected forms.
result<path_peer> parse_peer(std::string_view text);

/// Parses all of them. Names must differ, and their number is bounded. Errors: as above.
result<std::vector<path_peer>> parse_peers(const std::vector<std::string>& texts);

}  // namespace binnacle::agent
