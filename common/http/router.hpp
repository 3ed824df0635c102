#pragma once

#include "common/http/exchange.hpp"
#include "common/http/guard.hpp"
#include "common/http/message.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::http {

using simple_handler = std::function<response(const request&, std::string_view body)>;
using exchange_factory = std::function<std::unique_ptr<exchange>(const request&)>;

/// Finds the handler of a request: exact paths first, then the longest prefix. An unknown path gets 404, a
/// known path with another method 405. Paths are compared segment by segment after percent-decoding, so that
/// "/a%2Fb" never matches "/a/b".
class router {
 public:
  /// `path` like "/scheduler/filter". `body_limit` in bytes: the server answers a larger body with 413. With
  /// 0 the path takes no body: the handler answers at once, the server reads no body, and the connection ends
  /// if one was sent.
  void add(std::string method, std::string path, simple_handler handler, std::size_t body_limit = 0);
  void add_streaming(std::string method, std::string path, exchange_factory make, std::size_t body_limit);
  /// Everything below `prefix` ("/apis"), any method.
  void add_prefix(std::string prefix, simple_handler handler, std::size_t body_limit = 0);
  void add_streaming_prefix(std::string prefix, exchange_factory make, std::size_t body_limit);
  /// Answers requests with an unknown path or a wrong method (default: one JSON sentence).
  void set_fallback(exchange_factory make, std::size_t body_limit);
  /// The form in which the server itself refuses a request: one that is unreadable, too large or too late, or
  /// whose handler fails (default: response::failure).
  void set_failure(failure_form form) { failure_ = form; }
  failure_form failure() const noexcept { return failure_; }
  /// A request that the guard refuses reaches no handler. Without a guard every request reaches its handler.
  void set_guard(guard g) { guard_ = std::move(g); }
  const guard& asked_first() const noexcept { return guard_; }

  /// Exactly one of the first three members is set.
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
    std::string method;  // empty: any method
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
  std::optional<route> fallback_;  // for any method and path
  failure_form failure_ = response::failure;
  guard guard_;
};

}  // namespace binnacle::http
