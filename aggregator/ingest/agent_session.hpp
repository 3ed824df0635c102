#pragma once

#include "aggregator/ingest/shared_state.hpp"
#include "common/async/stream.hpp"
#include "common/async/timers.hpp"
#include "common/tls/identity.hpp"
#include "common/wire/aggregator_session.hpp"

#include <memory>
#include <optional>
#include <string>

namespace binnacle::ingest {

/// One agent's connection. It gives bytes and the time to the session machine, and does what the machine
/// says. Bad input from the peer can end only this session. Include from .cpp files only. Threads: the ingest
/// loop.
class agent_session : public std::enable_shared_from_this<agent_session> {
 public:
  agent_session(std::shared_ptr<shared_state> shared, async::stream peer, const network& from,
                const network& address);
  ~agent_session();

  /// Runs the session from the handshake to its end. Spawn it in the shared task group.
  static async::task<void> run(std::shared_ptr<agent_session> self);

  /// Ends the session from outside, telling the agent why.
  void close(wire::reason why, std::string sentence);
  /// Ends the session if the serial number of the agent's certificate is denied by now.
  void end_if_denied();
  /// Sends the interest in force, if the session is welcomed.
  void send_interest();

  /// Whether the session is not welcomed yet and waits for its peer, not for us. Such a session may be
  /// evicted.
  bool waits_for_peer() const noexcept { return seat_.has_value() && !asking_; }
  instant came_at() const noexcept { return came_at_; }
  /// Ends the session to make room for a newcomer.
  void evict();

  bool welcomed() const noexcept { return node_.has_value(); }
  std::string address() const { return peer_.peer_address(); }

 private:
  async::task<bool> greet();
  async::task<void> serve();
  async::task<void> linger();
  static async::task<void> flush(std::shared_ptr<agent_session> self);

  void drain_events(instant now);
  void on_hello(instant now);
  void certified(instant now);
  network whole_address() const;
  void ask_about_token();
  void reviewed(const result<token_holder>& holder, instant now);
  void unverified(std::string why, instant now);
  void welcome(std::uint32_t reauthenticate_after_s, instant now);
  bool is_another_machine(const agent_session& older) const;
  bool is_same_agent(const agent_session& older) const;
  bool is_kept_from(const agent_session& older, store::node_id id, instant now) const;
  void refuse_for(const agent_session& older, store::node_id id, const std::string& name, instant now);
  void replaced(const agent_session& older, store::node_id id, const std::string& name, instant now);
  void on_catalog(instant now);
  struct worked_out;
  void on_worked_out(worked_out what, instant now);
  void on_batch(instant now);
  void on_clock(instant now);
  void on_end(instant now);
  void count_left_out(instant now);
  void watch_ends(const wire::fault& why, instant now);
  void send();
  void belong_to(std::string pod);
  void leave(instant now);
  std::string who() const;
  /// Logs a line about this connection.
  void tell(std::string_view sentence, instant now);

  /// Whether the agent's certificate is denied by now; if so, counts it.
  bool is_denied();
  void leave_seat();

  const std::shared_ptr<shared_state> shared_;
  const network address_;
  const instant came_at_ = boot_clock::now();
  std::optional<crowd<agent_session*>::seat> seat_;  // among those that greet
  async::stream peer_;
  tls::identity identity_;
  wire::aggregator_session machine_;
  std::optional<store::node_id> node_;  // once welcomed
  std::string name_;                    // once welcomed
  std::string pod_;                     // UID of the pod whose token opened the session, if one did
  instant waits_until_{};               // no message of the agent is read before this time
  instant token_ends_{};                // when the last good token expires
  async::event prepared_;               // the catalog is
  bool preparing_ = false;              // the catalog is worked out beside the loop
  bool unread_ = false;                 // messages may be left: other peers had their turn first
  std::size_t series_ = 0;              // of the catalog
  bool asking_ = false;                 // the hello's token is being checked
  bool shaken_ = false;                 // the TLS handshake is done
  bool flushing_ = false;               // flush() runs
  bool counted_end_ = false;            // on_end() has run
  bool left_ = false;                   // leave() has run
  std::optional<async::event> gone_;    // flush() waits for the reader's end
  std::size_t wish_ = least_read;

  static constexpr std::size_t least_read = 2048, most_read = std::size_t{64} << 10;
  // The work of one turn, about a millisecond, counted in series. A message counts as 50 series, and 32 bytes
  // that it unpacks to as one. A batch also counts all series of its node, because it may make us look at all
  // of them, and eight for each rule of policies that it makes us look at.
  static constexpr std::size_t work_of_a_message = 50, bytes_of_a_series = 32, work_of_a_rule = 8,
                               most_work = 50'000;
};

}  // namespace binnacle::ingest
