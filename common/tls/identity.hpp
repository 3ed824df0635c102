#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::tls {

/// Who a verified peer certificate says its holder is.
struct identity {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> uris;                 ///< SPIFFE IDs among them
  std::string fingerprint;                       ///< SHA-256 of the certificate, lower-case hex
  std::chrono::system_clock::time_point ends{};  ///< notAfter

  /// Whether it may speak for `node`: a DNS name equal to it (ASCII case-insensitive, no wildcards), or a URI
  /// that is `uri_prefix` followed by the node's name. An empty prefix: URIs count for nothing.
  bool speaks_for(std::string_view node, std::string_view uri_prefix) const noexcept;
};

}  // namespace binnacle::tls
