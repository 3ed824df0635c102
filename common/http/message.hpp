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

/// HTTP/1.1 as our faces see it: no sockets, no Beast types.
namespace binnacle::http {

/// A request without its body.
struct request {
  std::string method;             ///< as sent; HEAD arrives as GET, the server leaves the body out
  std::string target;             ///< as sent
  std::vector<std::string> path;  ///< segments, split first and percent-decoded after ("%2A" is "*")
  std::vector<std::pair<std::string, std::string>> query;    ///< form-decoded, in order
  std::vector<std::pair<std::string, std::string>> headers;  ///< names lower-cased
  std::optional<tls::identity> peer;              ///< the verified client certificate, if there was one
  std::shared_ptr<const tls::shown_chain> shown;  ///< what the peer showed, verified or not; null: nothing
  std::string peer_address;
  network from;  ///< the same without the port, of IPv6 the /64; by this places are shared

  /// First value of that header (lower-case name) or query parameter; null if absent.
  const std::string* header(std::string_view name) const noexcept;
  const std::string* parameter(std::string_view name) const noexcept;
  /// "/a/b" from `path`, for comparing with routes; no trailing slash.
  std::string decoded_path() const;
};

struct response {
  unsigned status = 200;
  std::string content_type = "application/json";
  /// Written in order with one Content-Length; several pieces so that a large answer is never copied
  /// together.
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

/// What a refusal looks like to the callers of a face. A plain function: it outlives everything.
using failure_form = response (*)(unsigned status, std::string_view sentence);

}  // namespace binnacle::http
