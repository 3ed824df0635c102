#pragma once

#include "aggregator/ingest/authorise.hpp"
#include "aggregator/ingest/counters.hpp"
#include "aggregator/ingest/handshake_rate.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"
#include "common/tls/context.hpp"
#include "common/wire/messages.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::aggregator {
class core;
}

/// Agents' connections: TLS, sessions, and what agents say as events of the core.
namespace binnacle::ingest {

struct ingest_options {
  std::string address;        ///< empty: all, of both families
  std::uint16_t port = 9110;  ///< 0: any free one, see listener::port()
  std::shared_ptr<tls::context>
      tls;                ///< server side, TLS 1.3, ALPN "binnacle/1"; certificates required, or tokens taken
  token_reviewer review;  ///< checks tokens of agents whose certificate is not enough; null: no token counts
  std::string agents_account;  ///< the one service account whose tokens count; see token_holder::account
  token_origin origin = token_origin::anywhere;  ///< where tokens may come from
  std::string agents_uri_prefix;  ///< of URIs in certificates that name nodes; empty: URIs do not count
  std::string cluster;            ///< the cluster that is served; agents of another one are refused
  std::string replica_id;         ///< told in every welcome
  std::uint16_t replicas = 1;

  std::size_t max_sessions = 20'000;  ///< welcomed or not; more are reset
  handshake_rate::bounds handshakes;
  /// How many connections may wait for their ClientHello, and how many of one unknown network may wait for
  /// their handshake. Further connections are reset; agents among them retry after their back-off.
  std::size_t handshake_queue = 1'000;
  /// In all, as many connections may wait for their handshake as can begin it in this time, or
  /// handshake_queue if that is more. The time is shorter than agents wait, handshake included
  /// (agent::uplink_options::connect_deadline).
  std::chrono::seconds line_patience{10};
  std::size_t max_greeting = 500;  ///< connections in the handshake or before the welcome at one time
  /// A connection that has been greeting for less than this does not make room for a newcomer: it may be an
  /// agent behind a slow line or on a busy machine.
  std::chrono::milliseconds least_greeting{std::chrono::seconds(1)};
  std::chrono::milliseconds hello_deadline{std::chrono::seconds(3)};  ///< for the ClientHello
  std::chrono::seconds handshake_deadline{10};  ///< from there to the end of the handshake
  std::chrono::seconds write_deadline{20};
  std::chrono::seconds silence{30};  ///< or three times the node's longest period, if that is more
};

/// Accepts agents, admits their handshakes as fast as the loop has time for them, and runs a session for
/// each, from start() to stop(). What agents say becomes events of the core `to`, which must outlive this. A
/// bad session ends only itself. Threads: all calls on the loop's thread.
class listener {
 public:
  listener(boost::asio::io_context& loop, ingest_options options, aggregator::core& to, logger log);
  ~listener();
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  /// Binds and starts accepting. Errors: io, permission, invalid_input, each with the remedy.
  result<void> start();
  std::uint16_t port() const noexcept;

  /// What all agents should read and how often. It is sent to all connected agents if it changed, and to each
  /// new one.
  void set_interest(wire::interest wanted);

  /// Tells that pods, by UID, were deleted. Sessions that a token of one of them opened end, and such tokens
  /// no longer count.
  void pods_deleted(const std::vector<std::string>& uids, instant now);
  /// Tells that a Node object is gone. The node's session ends, so that its agent must identify itself again.
  void node_deleted(std::string_view name);

  const ingest_counters& counters() const noexcept;
  /// Nodes that two agents claim now, in name order.
  std::vector<contest> contests(instant now) const;
  /// Nodes whose sessions ended three times in five minutes for one reason, in the order of reasons.
  std::vector<repeated_end> repeated_ends(instant now) const;

  /// Stops accepting and says goodbye to every agent. Connections that are still open after `grace` are cut.
  /// `done` is called on the loop.
  void stop(std::chrono::milliseconds grace, std::function<void()> done);

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace binnacle::ingest
