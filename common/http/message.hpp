#pragma once

#include "common/error.hpp"
#include "common/tls/chain.hpp"
#include "common/tls/identity.hpp"

#include <cstdint>
#include <functional>
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

/// How a handler answers, once, now or later, on the loop it was called on.
using reply = std::function<void(response)>;

/// A request whose body is handled as it arrives, so that a 60 MB body needs no 60 MB buffer. Made by a route
/// for each request, destroyed after the answer, or when the peer goes away (noticed when it is read from or
/// written to).
class exchange {
 public:
  virtual ~exchange() = default;
  /// The next piece of the body; false ends the reading early and asks finish() for the (error) answer.
  virtual bool consume(std::string_view piece) = 0;
  virtual void finish(reply answer) = 0;
};

using simple_handler = std::function<response(const request&, std::string_view body)>;
using exchange_factory = std::function<std::unique_ptr<exchange>(const request&)>;

/// Asked before the handler of every path: may this request go on? It calls `then` once, on the loop, now or
/// later, with what the caller is told instead, or with nothing. The request is its own only until it
/// returns.
using verdict = std::function<void(std::optional<response> refusal)>;
using guard = std::function<void(const request&, verdict then)>;

/// Finds the handler of a request: exact paths first, then the longest prefix. Unknown: 404; known path,
/// other method: 405. Paths are compared segment by segment after percent-decoding, so that "/a%2Fb" never
/// matches "/a/b".
class router {
 public:
  /// `path` like "/scheduler/filter". `body_limit` in bytes: a larger body is answered 413 by the server.
  void add(std::string method, std::string path, simple_handler handler, std::size_t body_limit = 1u << 20);
  void add_streaming(std::string method, std::string path, exchange_factory make, std::size_t body_limit);
  /// Everything below `prefix` ("/apis"), any method.
  void add_prefix(std::string prefix, simple_handler handler, std::size_t body_limit = 1u << 20);
  /// What an unknown path or a wrong method is answered (default: one JSON sentence).
  void set_fallback(simple_handler handler);
  void set_streaming_fallback(exchange_factory make, std::size_t body_limit);
  /// How the server itself says no to a request: unreadable, too large, too late, and when a handler fails
  /// (default: response::failure).
  void set_failure(failure_form form) { failure_ = form; }
  failure_form failure() const noexcept { return failure_; }
  /// A request that is refused by it reaches no handler (default: none, all do).
  void set_guard(guard g) { guard_ = std::move(g); }
  const guard& asked_first() const noexcept { return guard_; }

  /// Exactly one of the first three is there.
  struct match {
    const simple_handler* simple = nullptr;
    const exchange_factory* streaming = nullptr;
    std::optional<response> refusal;  ///< 404 or 405, when there is no fallback
    std::size_t body_limit = 0;
  };
  /// The pointers are valid as long as the router is not changed.
  match find(const request& r) const;

 private:
  struct route {
    std::string method;  // empty: any
    std::string path;    // as given, for messages
    std::vector<std::string> segments;
    bool prefix = false;
    simple_handler simple;
    exchange_factory streaming;
    std::size_t body_limit = 0;
  };
  const route* best(const request& r, std::string& allowed) const;
  response refuse(const std::string& allowed) const;

  std::vector<route> routes_;
  simple_handler fallback_;
  exchange_factory streaming_fallback_;
  std::size_t fallback_body_limit_ = 0;
  failure_form failure_ = response::failure;
  guard guard_;
};

/// Fills target, path and query of `out` from a request target ("/a/b%2Ac?x=1+2" or "http://host/a"): split
/// first, decoded after;
/// "+" is a space in the query only. Errors: invalid_input (a malformed or NUL percent escape, neither form).
result<void> parse_target(std::string_view target, request& out);

/// RFC 3986 2.1. Errors: invalid_input (a malformed or NUL percent escape).
result<std::string> percent_decoded(std::string_view text);

/// `text` as one value of a query string.
std::string query_escaped(std::string_view text);

}  // namespace binnacle::http
