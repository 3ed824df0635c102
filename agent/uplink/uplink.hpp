#pragma once

#include "agent/base/board.hpp"
#include "common/log/log.hpp"
#include "common/text/endpoint.hpp"
#include "common/tls/context.hpp"
#include "common/wire/messages.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::agent {

/// An aggregator's address, port 9110 if none is given; several replicas may stand behind it. Errors:
/// invalid_input with the form expected.
result<endpoint> parse_endpoint(std::string_view text);

struct uplink_options {
  std::vector<endpoint> aggregators;
  std::shared_ptr<tls::context> tls;  ///< client side, TLS 1.3, ALPN "binnacle/1"
  std::string
      server_name;    ///< what the aggregator's certificate must be issued for; empty: the endpoint's host
  wire::hello hello;  ///< node, cluster, boot id, version
  /// Read again for every hello; null when the certificate speaks for the node.
  std::function<result<std::string>()> credential;
  /// What the aggregator at the end of link number `link` wants read and how often.
  std::function<void(std::size_t link, const wire::interest&)> on_interest;
  /// That link is lost.
  std::function<void(std::size_t link)> on_lost;
  /// Whether every source has completed its first read: what it adds later takes another catalogue and all
  /// values again. Waited for, from start() on, announce_patience at most. Null: the board is complete.
  std::function<bool()> complete;
  std::chrono::seconds announce_patience{5};
  double budget = 0;  ///< bytes per second that all links together may take (send_budget); 0: no bound
  std::chrono::seconds connect_deadline{15};
  std::chrono::seconds write_deadline{30};
};

/// What goes to one replica, by whichever link.
struct link_report {
  std::string aggregator;  ///< its id; before that is known, the address
  bool connected = false;
  std::uint64_t batches = 0;
  std::uint64_t bytes = 0;  ///< on the wire, estimated (on_the_wire())
};
struct uplink_report {
  std::vector<link_report> links;  ///< that there are, and that are missing
  std::uint64_t reconnects = 0;    ///< links lost or refused and dialled again
  std::uint64_t left_out = 0;      ///< items of the aggregators' messages that were not understood
  std::uint64_t conflated = 0;     ///< values replaced by newer ones before they were sent
  double budget = 0;               ///< uplink_options::budget
  /// Periods that series which are watched, and the others, wait between two sends because of it.
  int watched_wait = 1, others_wait = 1;
};

/// Sends the board to every aggregator replica: one link per replica id, also when several stand
/// behind one address: it dials until it has them all (link_plan). At most one batch of a link is on its way;
/// what changes meanwhile goes with the next. A lost link is dialled again with jittered back-off, at most 30
/// s apart, or as long as the aggregator asks for (10 min at most); certificates are looked at again before
/// each dial. Threads: the agent's loop.
class uplink {
 public:
  uplink(boost::asio::io_context& loop, uplink_options options, const board& from, logger log);
  ~uplink();
  uplink(const uplink&) = delete;
  uplink& operator=(const uplink&) = delete;

  void start();
  /// The board changed: send. Cheap when nothing is connected.
  void changed();
  uplink_report report() const;

  /// Sends what is left, says goodbye and closes; what is still open after `grace` is cut. `done` is called
  /// on the loop.
  void stop(std::chrono::milliseconds grace, std::function<void()> done);

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace binnacle::agent
