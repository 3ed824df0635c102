#pragma once

#include "common/error.hpp"
#include "common/text/endpoint.hpp"
#include "common/tls/context.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace binnacle::http {

/// A server outside, as its URL says.
struct destination {
  bool secure = true;
  endpoint at;
  std::string target;  ///< path and query, with a leading '/'
};

/// "https://prometheus.example:9090/api/v1/write", with http for networks that nobody else is on. `setting`:
/// where the URL stands ("remote-write"); `example`: a good one, for people; if it has a path, the URL needs
/// one.
/// Errors: invalid_input, one sentence that names the setting and the remedy.
result<destination> parse_destination(std::string_view url, std::string_view setting,
                                      std::string_view example);

/// By what we prove who we are; each may be empty.
struct proof {
  tls::files pem;          ///< `authority` empty: the server is checked by this machine's authorities
  std::string user;        ///< if set, the secret is a password (HTTP Basic), else a bearer token
  std::string token_file;  ///< read for every request, since it may be replaced
};

/// Whether a URL and what proves us go together: nothing without a URL, certificate and key both or neither,
/// a password for a user, and no secret over plain http. Errors: as parse_destination().
result<void> check_destination(std::string_view url, const proof& p, std::string_view setting,
                               std::string_view example);

/// The certificate that we show and the authorities that we trust; null for plain HTTP. Errors: as
/// tls::context::load(). Blocks for small files.
result<std::unique_ptr<tls::context>> security_for(const destination& to, const proof& p);

/// The Authorization header. Errors: what read_file() says; invalid_input (empty, or no text for a header).
/// Blocks for a small file.
result<std::string> authorization(const proof& p);

}  // namespace binnacle::http
