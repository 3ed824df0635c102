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

/// Parses an aggregator's address. The port is 9110 if none is given. Several replicas may stand behind one
/// address. Errors: invalid_input with the expected form.
result<endpoint> parse_endpoint(std::string_view text);

struct uplink_options {
  std::vector<endpoint> aggregators;
  std::shared_ptr<tls::context> tls;  ///< client side, TLS 1.3, ALPN "binnacle/1"
  std::string
      server_name;    ///< what the aggregator's certificate must be issued for; empty: the endpoint's host
  wire::hello hello;  ///< node, cluster, boot id, version
  /// Gives the credential, and is called for every hello. Null if the certificate identifies the node.
  std::function<result<std::string>()> credential;
  /// An aggregator may change what it wants this many times at once, and then once a second. What it wants in
  /// between is left out.
  static constexpr int most_interests_at_once = 4;
  /// Called with what the aggregator at the end of this link wants read, and how often, if it is new.
  std::function<void(std::size_t link, const wire::interest&)> on_interest;
  /// Called when this link is lost.
  std::function<void(std::size_t link)> on_lost;
  /// Whether every source has completed its first read. What sources add later needs another catalog and
  /// all values again. So links wait for this after start(), for announce_patience at most. Null means that
  /// the board is complete.
  std::function<bool()> complete;
  std::chrono::seconds announce_patience{5};
  /// An aggregator may begin after its agents. That none has been met yet is no warning for this long.
  std::chrono::seconds meeting_patience{30};
  double budget = 0;  ///< bytes per second that all links together may take (send_budget); 0: no bound
  std::chrono::seconds connect_deadline{15};
  std::chrono::seconds write_deadline{30};
};

/// What was sent to one replica, over all links to it.
struct link_report {
  std::string aggregator;  ///< the replica's id; before it is known, the address
  bool connected = false;
  std::uint64_t batches = 0;
  std::uint64_t bytes = 0;  ///< on the wire, estimated (on_the_wire())
};
struct uplink_report {
  std::vector<link_report> links;  ///< one for each replica that is connected or missing
  std::uint64_t reconnects = 0;    ///< how often a link was lost or refused and dialled again
  std::uint64_t left_out = 0;      ///< items in the aggregators' messages that were not understood
  std::uint64_t conflated = 0;     ///< values replaced by newer ones before they were sent
  double budget = 0;               ///< uplink_options::budget
  /// How many periods watched series, and the others, wait between two sends because of the budget.
  int watched_wait = 1, others_wait = 1;
};

/// Sends the board to every aggregator replica, with one link for each replica id. If several replicas stand
/// behind one address, it dials until it has a link to each (link_plan). Each link has at most one batch
/// under way; what changes meanwhile goes with the next one. A lost link is dialled again with jittered
/// back-off of at most 30 s, or after the time for which the aggregator asks (10 min at most). Certificates
/// are looked at again before each dial. Threads: the agent's loop.
class uplink {
 public:
  uplink(boost::asio::io_context& loop, uplink_options options, const board& from, logger log);
  ~uplink();
  uplink(const uplink&) = delete;
  uplink& operator=(const uplink&) = delete;

  void start();
  /// The board has changed: send it. Cheap if nothing is connected.
  void changed();
  uplink_report report() const;

  /// Sends what is left, says goodbye and closes. Connections that are still open after `grace` are cut.
  /// `done` is called on the loop.
  void stop(std::chrono::milliseconds grace, std::function<void()> done);

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace binnacle::agent
