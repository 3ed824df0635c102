#pragma once

#include "common/error.hpp"
#include "common/grpc/status.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace binnacle::grpc {

/// A call: the method, and the one message that it gets. The answer is one message, too.
struct call {
  std::string method;                   ///< "/inference.GRPCInferenceService/ModelInfer"
  std::string message;                  ///< encoded
  std::chrono::milliseconds timeout{};  ///< the server is told this, too
  std::string authorization = {};       ///< the metadata of this name; empty: none
};

struct answer {
  grpc::status status = grpc::status::unknown;
  std::string said;     ///< if the status is not ok: the server's text
  std::string message;  ///< if it is ok: encoded
};

/// Bounds on what a server may make us hold or do for a call. Beyond a bound the connection ends as
/// `overloaded`.
struct bounds {
  std::size_t message = std::size_t{1} << 20;   ///< bytes of the answer
  std::size_t headers = std::size_t{16} << 10;  ///< bytes of headers and trailers, and 32 for each of them
  std::size_t frames = 512;                     ///< frames of HTTP/2, whatever is in them
};

/// The client's end of an HTTP/2 connection, for unary calls of gRPC, one after another. Bytes in, bytes out:
/// no sockets, no waiting, no clock. The head of connection.cpp says what a server can do to it.
class connection {
 public:
  struct settings {
    bool secure = false;    ///< tells the server that the scheme is https
    std::string authority;  ///< "model-server:8001"
    std::string user_agent;
    bounds most = {};
  };

  explicit connection(settings s);
  ~connection();
  connection(connection&&) noexcept;
  connection& operator=(connection&&) noexcept;

  /// Whether a call may begin: none is under way, and the server accepts further ones.
  bool usable() const noexcept;
  /// Only when usable().
  void begin(const call& what);
  /// Bytes to be sent, in order. The caller removes the bytes that it takes.
  std::string& outbox() noexcept;
  void feed(std::string_view bytes);
  /// Call it when the server has ended the connection in order.
  void end();

  /// Whether the call has an outcome.
  bool done() const noexcept;
  /// The outcome; call it only once done() is true. Errors: protocol (no gRPC, broken HTTP/2), overloaded
  /// (beyond `bounds`), disconnected (ended in the middle).
  result<answer> take();
  /// True if the server certainly did nothing for the failed call. The call may then be made again on another
  /// connection.
  bool unseen() const noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::grpc
