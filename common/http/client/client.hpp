#pragma once

#include "common/async/task.hpp"
#include "common/error.hpp"
#include "common/http/call.hpp"
#include "common/http/response_parser.hpp"
#include "common/tls/context.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::http {

struct server_address {
  std::string host;  ///< a name or an address, without brackets
  std::uint16_t port = 443;
  std::string server_name;  ///< the name in the server's certificate; empty: the host
};

/// An answer whose body is read as it arrives: for watches. Include from .cpp files only.
class answer_stream {
 public:
  answer_stream();
  ~answer_stream();
  answer_stream(answer_stream&&) noexcept;
  answer_stream& operator=(answer_stream&&) noexcept;

  const answer& head() const;
  /// The next piece of the body, valid until the next call; empty when the body is complete. Errors: timeout
  /// (may be tried again), disconnected, protocol, overloaded (more than call::most_bytes).
  async::task<result<std::string_view>> next(async::deadline until);

 private:
  friend class client;
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// Calls to one server over HTTP/1.1 connections that are kept between calls. Any number of calls at a time,
/// each on a connection of its own. Include from .cpp files only. Threads: one loop.
class client {
 public:
  /// `tls` is called for every call. The call uses only connections that were made with the same SSL_CTX. If
  /// `tls` is empty or returns null: plain HTTP.
  client(server_address to, std::function<std::shared_ptr<SSL_CTX>()> tls, std::string user_agent);
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  /// The whole answer, whatever its status. Errors: those of async::stream and of answer_stream::next().
  async::task<result<answer>> ask(call what, async::deadline until);
  /// The same, but only up to the head; `until` is the head's deadline. The connection ends with the stream.
  async::task<result<answer_stream>> open(call what, async::deadline until);

 private:
  struct impl;
  std::shared_ptr<impl> impl_;  // a running call keeps it
};

}  // namespace binnacle::http
