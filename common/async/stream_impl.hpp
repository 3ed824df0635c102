#pragma once

#include "common/async/stream.hpp"
#include "common/tls/engine.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>

// Private to stream.cpp and connect.cpp.
namespace binnacle::async {

enum class direction : unsigned char { read, write };

struct stream::impl : std::enable_shared_from_this<stream::impl> {
  explicit impl(tcp_socket s);
  void prepare();
  void arm();
  task<result<void>> wait(direction what, deadline until);
  bool turn_is_over() const;
  task<void> yield_if_due();
  task<result<void>> flush(deadline until);
  result<bool> send_outbox();
  result<bool> take(std::span<char> to, std::size_t& got);
  error timed_out(direction what) const;

  tcp_socket socket;
  // Made when the handshake begins, so that a peer that never speaks costs no TLS state. Null on a plain
  // connection.
  std::unique_ptr<tls::engine> engine;
  std::function<std::unique_ptr<tls::engine>()> make_engine;
  std::string peer_address;
  std::size_t sent = 0;   // bytes of the engine's outbox that were sent
  std::size_t moved = 0;  // bytes since the last wait; short records count as least_record

  // One timer for both directions. It is armed for the earliest deadline and left armed when an operation
  // ends early: most operations end long before, and setting a timer for each would cost more than the
  // operation.
  steady_timer watchdog;
  deadline read_until = never;
  deadline write_until = never;
  deadline armed_until = never;
};

}  // namespace binnacle::async
