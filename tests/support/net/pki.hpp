#pragma once

#include "common/tls/context.hpp"
#include "tests/support/temp_folder.hpp"

#include <memory>
#include <string>
#include <vector>

namespace binnacle::support {

/// What a test wants in a certificate. Times are in seconds from now.
struct wanted {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;  ///< an IP address becomes an address entry
  std::vector<std::string> uris;
  long valid_from = -60;
  long valid_to = 3600;
  std::string extended_key_usage;  ///< "serverAuth", "clientAuth"; empty: none given
};

/// A certificate authority in memory (ECDSA P-256, about a millisecond per certificate).
class authority {
 public:
  /// Writes NAME-ca.crt into `dir`, which must outlive this object.
  authority(const temp_folder& dir, std::string name);
  ~authority();
  /// Writes FILE.crt and FILE.key. Returns their names, with this CA as the authority.
  tls::files issue(const std::string& file, const wanted& what);
  /// A server's certificate for localhost, 127.0.0.1 and ::1.
  tls::files issue_server(const std::string& file = "server");
  const std::string& certificate() const { return path_; }

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
  const temp_folder& dir_;
  std::string path_;
};

}  // namespace binnacle::support
