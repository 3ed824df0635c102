#pragma once

#include "agent/ipmi/protocol/line_buffer.hpp"
#include "agent/ipmi/protocol/protocol.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace binnacle::ipmi {

/// The agent at the other end: of stdin and stdout, or of a Unix socket, to which agents may connect one
/// after another. Blocking, for a program with one thread: poll(2) with a deadline.
class peer {
 public:
  static constexpr duration usual_patience = std::chrono::seconds(5);
  /// Speaks over these two descriptors. When they end, the program ends: see gone(). If an agent reads
  /// nothing for `patience`, its connection is closed.
  static std::unique_ptr<peer> over(int in, int out, duration patience = usual_patience);
  /// Listens at `path`. Replaces a socket file that a dead helper left. `mode` is 0600 or 0660. Errors:
  /// invalid_input (something else is at `path`, or a living helper listens there), permission, io.
  static result<std::unique_ptr<peer>> listen(const std::string& path, unsigned mode);
  ~peer();
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  /// Waits until something comes, at most until `until`. A new agent makes arrived() true. Messages that
  /// send_soon() kept back are sent before a wait that would keep them back for longer than `gathering`.
  void wait(instant until);
  /// The next message, if a whole one has come. A line that is no message ends the connection.
  std::optional<from_agent> next();
  /// Sends one message, after those that send_soon() kept back. Does nothing without an agent.
  void send(const from_helper& message);
  /// Sends a message together with others that follow soon. The readings of one round then cost one system
  /// call here, and the agent wakes once.
  void send_soon(const from_helper& message);
  static constexpr duration gathering = std::chrono::milliseconds(20);

  /// True once after each agent's arrival. A new agent must be told everything, beginning with hello.
  bool arrived() noexcept { return std::exchange(arrived_, false); }
  bool connected() const noexcept { return in_ >= 0; }
  /// Why the last connection ended. Empty if the agent closed it.
  const std::string& ended_because() const noexcept { return why_; }
  /// Whether no agent can come any more.
  bool gone() const noexcept { return in_ < 0 && listener_ < 0; }

 private:
  peer() = default;
  void accept_one();
  void read_some();
  void flush();
  void hang_up(std::string why);

  int listener_ = -1;
  std::string path_;
  duration patience_ = usual_patience;
  int in_ = -1, out_ = -1;
  bool arrived_ = false;
  line_buffer lines_;
  std::string why_;
  std::string unsent_;
  instant unsent_since_{};
};

}  // namespace binnacle::ipmi
