#pragma once

#include "common/async/task.hpp"
#include "common/error.hpp"
#include "common/grpc/connection.hpp"
#include "common/text/endpoint.hpp"
#include "common/tls/context.hpp"

#include <functional>
#include <memory>
#include <string>

namespace binnacle::grpc {

/// Unary calls to one server, over HTTP/2 connections that are kept between calls. Each call has a connection
/// of its own while it lasts. If a kept connection did not take a call, or the server was just closing it,
/// the call is made again on another one. So calls must do no harm if the server gets them twice. Include
/// from .cpp files only. Threads: one loop.
class client {
 public:
  /// `tls` is called for every call; what it gives must offer "h2" (ALPN). Empty: HTTP/2 without TLS ("prior
  /// knowledge").
  client(endpoint to, std::function<std::shared_ptr<SSL_CTX>()> tls, std::string user_agent);
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  /// Sets call::timeout to the time left until the deadline. Errors: those of async::stream and of
  /// connection::take().
  async::task<result<answer>> ask(call what, async::deadline until);

 private:
  struct impl;
  std::shared_ptr<impl> impl_;  // a running call keeps it
};

}  // namespace binnacle::grpc
