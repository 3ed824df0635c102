#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::tls {

/// The names in a verified peer certificate.
struct identity {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> uris;                 ///< SPIFFE IDs are among them
  std::string fingerprint;                       ///< SHA-256 of the certificate, lower-case hex
  std::chrono::system_clock::time_point ends{};  ///< notAfter

  /// Whether the certificate may speak for `node`: it has a DNS name equal to it (ASCII case-insensitive, no
  /// wildcards), or a URI that is `uri_prefix` followed by the node's name. If the prefix is empty, URIs do
  /// not count.
  bool speaks_for(std::string_view node, std::string_view uri_prefix) const noexcept;
};

}  // namespace binnacle::tls
