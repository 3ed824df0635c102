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

/// The agent at the other end: of stdin and stdout, or of a Unix socket where one after the other may come.
/// Blocking, for a program with one thread: poll(2) with a deadline.
class peer {
 public:
  static constexpr duration usual_patience = std::chrono::seconds(5);
  /// Speaks over these two descriptors. When they end the program ends: see gone(). An agent that takes
  /// nothing for `patience` is hung up on.
  static std::unique_ptr<peer> over(int in, int out, duration patience = usual_patience);
  /// Listens at `path`, replacing a socket that a dead helper left. `mode` is 0600 or 0660.
  /// Errors: invalid_input (something else is there, or a living helper), permission, io.
  static result<std::unique_ptr<peer>> listen(const std::string& path, unsigned mode);
  ~peer();
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  /// Waits for something to come, at most until `until`. A new agent makes arrived() true. What send_soon()
  /// kept goes out before a wait that would keep it for longer than `gathering`.
  void wait(instant until);
  /// The next message, if one came whole. A line that is none ends the connection.
  std::optional<from_agent> next();
  /// Sends one message, after those that send_soon() kept. Does nothing without an agent.
  void send(const from_helper& message);
  /// One message out with those that follow closely: readings of one round cost one system call here, and the
  /// agent wakes once.
  void send_soon(const from_helper& message);
  static constexpr duration gathering = std::chrono::milliseconds(20);

  /// Once after each agent's arrival: it must be told everything from hello on.
  bool arrived() noexcept { return std::exchange(arrived_, false); }
  bool connected() const noexcept { return in_ >= 0; }
  /// Why the last connection ended; empty: the agent closed it.
  const std::string& ended_because() const noexcept { return why_; }
  /// Nobody will come any more.
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
