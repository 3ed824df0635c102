#pragma once

#include "agent/base/clocks.hpp"
#include "agent/sources/path/echo.hpp"
#include "agent/sources/path/peer.hpp"
#include "common/async/task.hpp"

#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace binnacle::agent {

/// The outcome of one probe.
struct path_outcome {
  bool sent = false;                   ///< false: nothing could be sent (no address, no privilege)
  instant when{};                      ///< when the probe ended
  std::optional<duration> round_trip;  ///< nothing: the probe was lost or not sent
  error why;                           ///< why there is no round trip
};

/// Probes one peer: opens a TCP connection and closes it at once, or sends an ICMP echo request. The name is
/// looked up again every minute. If an address does not answer, the next probe tries the next address. If
/// this loop is busy meanwhile, that adds to the round trip. Include from .cpp files only. Threads: one loop.
class prober {
 public:
  prober(path_peer peer, duration timeout, clocks time = {});
  const path_peer& peer() const noexcept { return peer_; }

  /// Runs one probe, which ends within the timeout. Only one at a time. `self` keeps the prober alive while
  /// it runs.
  static async::task<path_outcome> once(std::shared_ptr<prober> self);

 private:
  using waiter = boost::asio::posix::basic_stream_descriptor<async::executor>;

  async::task<result<void>> look_up(async::deadline until);
  async::task<result<duration>> connect(async::tcp::endpoint to);
  async::task<result<duration>> echo();
  result<void> open_echo(const async::tcp::endpoint& to, const async::executor& on);

  path_peer peer_;
  duration timeout_;
  clocks time_;
  std::vector<async::tcp::endpoint> addresses_;
  std::size_t next_ = 0;
  async::deadline look_up_again_{};
  std::optional<echo_socket> echo_;
  async::tcp::endpoint echo_to_;
  std::optional<waiter> readable_;  // waits on a duplicate of the socket's descriptor
  std::uint16_t sequence_ = 0;
};

}  // namespace binnacle::agent
