#pragma once

#include "common/error.hpp"
#include "common/text/endpoint.hpp"
#include "common/tls/context.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace binnacle::http {

/// A server that is not a part of Binnacle, as its URL names it.
struct destination {
  bool secure = true;
  endpoint at;
  std::string target;  ///< path and query, with a leading '/'
};

/// Reads a URL such as "https://prometheus.example:9090/api/v1/write". http is for networks that nobody else
/// uses. `setting`: the setting that holds the URL ("remote-write"). `example`: a correct URL, for the
/// message; if it has a path, the URL must have one, too. Errors: invalid_input, one sentence that names the
/// setting and the remedy.
result<destination> parse_destination(std::string_view url, std::string_view setting,
                                      std::string_view example);

/// How we prove to a server who we are. Each field may be empty.
struct proof {
  tls::files pem;          ///< `authority` empty: this machine's authorities verify the server
  std::string user;        ///< if set, the secret is a password (HTTP Basic); else a bearer token
  std::string token_file;  ///< read for every request, since it may be replaced
};

/// Checks that a URL and the credentials for it fit: no credentials without a URL, certificate and key both
/// or neither, a password for a user, and no secret over plain http. Errors: as parse_destination().
result<void> check_destination(std::string_view url, const proof& p, std::string_view setting,
                               std::string_view example);

/// A TLS context with the certificate that we show and the authorities that we trust; null for plain HTTP.
/// Errors: as tls::context::load(). Blocks: reads small files.
result<std::unique_ptr<tls::context>> security_for(const destination& to, const proof& p);

/// The value of the Authorization header. Errors: those of read_file(); invalid_input (empty, or not allowed
/// in a header). Blocks: reads a small file.
result<std::string> authorization(const proof& p);

}  // namespace binnacle::http
