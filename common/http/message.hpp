#pragma once

#include "common/crowd.hpp"
#include "common/tls/chain.hpp"
#include "common/tls/identity.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// HTTP/1.1 in the form that our faces use: no sockets, no types of Beast.
namespace binnacle::http {

/// A request without its body.
struct request {
  std::string method;             ///< as sent; HEAD arrives as GET, the server leaves the body out
  std::string target;             ///< as sent
  std::vector<std::string> path;  ///< segments: split first, then percent-decoded ("%2A" is "*")
  std::vector<std::pair<std::string, std::string>> query;    ///< form-decoded, in order
  std::vector<std::pair<std::string, std::string>> headers;  ///< names lower-cased
  std::optional<tls::identity> peer;              ///< the verified client certificate, if there was one
  std::shared_ptr<const tls::shown_chain> shown;  ///< the peer's certificates, verified or not; null: none
  std::string peer_address;
  network from;  ///< peer_address without the port, of IPv6 the /64: one share of the places
  /// Who asks: the guard's name of the caller, else the certificate's common name; empty: nobody knows.
  std::string caller;

  /// The first value of the header `name` (lower case) or of the query parameter; null if absent.
  const std::string* header(std::string_view name) const noexcept;
  const std::string* parameter(std::string_view name) const noexcept;
  /// The path as one text, "/a/b", to compare with routes; no trailing slash.
  std::string decoded_path() const;
};

struct response {
  unsigned status = 200;
  std::string content_type = "application/json";
  /// Written in order, under one Content-Length. Several pieces, so that a large answer need not be copied
  /// into one.
  std::vector<std::string> body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool close = false;

  static response json(std::string text, unsigned status = 200) {
    return {status, "application/json", {std::move(text)}, {}, false};
  }
  static response text(std::string text, unsigned status = 200) {
    return {status, "text/plain; charset=utf-8", {std::move(text)}, {}, false};
  }
  /// {"error": sentence}, for every answer that is a refusal.
  static response failure(unsigned status, std::string_view sentence);
};

/// How a face words its refusals. A plain function, because it must outlive everything else.
using failure_form = response (*)(unsigned status, std::string_view sentence);

}  // namespace binnacle::http
