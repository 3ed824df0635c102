#pragma once

#include "common/error.hpp"
#include "common/grpc/status.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace binnacle::grpc {

/// One message to a method, which gives one message.
struct call {
  std::string method;                   ///< "/inference.GRPCInferenceService/ModelInfer"
  std::string message;                  ///< encoded
  std::chrono::milliseconds timeout{};  ///< which the server is told
};

struct answer {
  grpc::status status = grpc::status::unknown;
  std::string said;     ///< why it is not ok: the server's words
  std::string message;  ///< if it is ok: encoded
};

/// What a server may make us hold or do for a call; beyond it the connection ends, `overloaded`.
struct bounds {
  std::size_t message = std::size_t{1} << 20;   ///< bytes of the answer
  std::size_t headers = std::size_t{16} << 10;  ///< bytes of headers and trailers, 32 more for each
  std::size_t frames = 512;                     ///< of HTTP/2, whatever is in them
};

/// The client's end of an HTTP/2 connection on which gRPC's unary calls are made, one after another. Bytes
/// in, bytes out: no sockets, no waiting, no clock. connection.cpp begins with what a server can do to it.
class connection {
 public:
  struct settings {
    bool secure = false;    ///< https is what the server is told
    std::string authority;  ///< "model-server:8001"
    std::string user_agent;
    bounds most = {};
  };

  explicit connection(settings s);
  ~connection();
  connection(connection&&) noexcept;
  connection& operator=(connection&&) noexcept;

  /// Whether a call may begin: none is under way, and the server has not said or done anything against it.
  bool usable() const noexcept;
  /// Only when usable().
  void begin(const call& what);
  /// Bytes to be sent in order; the caller takes what it has sent.
  std::string& outbox() noexcept;
  void feed(std::string_view bytes);
  /// The server ended the connection in order.
  void end();

  /// Whether the call has an outcome.
  bool done() const noexcept;
  /// It, once done(). Errors: protocol (no gRPC, broken HTTP/2), overloaded (beyond `bounds`), disconnected
  /// (ended in the middle).
  result<answer> take();
  /// The server certainly did nothing for the call that failed: it may be made again on another connection.
  bool unseen() const noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::grpc
