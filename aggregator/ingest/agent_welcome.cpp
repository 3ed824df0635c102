// The part of an agent's session that finds out who the agent is, whether it may speak for its node, and
// which session has the node.
//
// Two agents may claim one node: a machine that was started again beside its own half-open connection, a
// cloned disk, or a thief with the node's certificate. What they say of themselves (boot id, process) only
// tells honest agents apart, because a thief can say anything. A thief cannot choose two things: when he came
// first, and his address (unless he is behind the node's own NAT). So:
//
// - A session that is not heard any more keeps nobody out.
// - Of two addresses, the one from which the node was welcomed first keeps the node, until a day after its
//   last session from there. So a thief gets in only while the node's agent is away, and must go when the
//   agent comes back, also after a reboot. An agent whose machine moved to another address waits until its
//   old session is silent.
// - From one address the newest wins, since that is what a reboot looks like. At the third swap within a
//   minute the node is contested: now the machine (boot id) that was there first has it.
// - Agents of one machine replace each other. An agent that has the node's boot id and address is taken to
//   run on the node.
//
// Who was first is part of the core's state (core/node_tenants), so it outlives a restart of the aggregator.
// What this cannot do: if the thief comes before the agent and nothing is known of the node (a new node, or
// an aggregator that begins without a state), the thief counts as the first. But nobody is shut out silently.
// The log, `binnacle status`, the doctor and a metric report the contest, with both addresses, and
// `denied-serials` ends it. Believing neither of the two would be no better, because then any thief could
// silence a node.
#include "aggregator/ingest/agent_session.hpp"
#include "aggregator/ingest/authorise.hpp"
#include "common/async/network.hpp"
#include "common/clock.hpp"
#include "common/text/endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

namespace binnacle::ingest {

using namespace std::chrono_literals;

namespace {

/// When an agent comes back that was refused for what it is: late, because only a person can mend that.
constexpr duration come_back_later = 1min;
/// When an agent comes back that was refused because of trouble on our side: soon.
constexpr duration come_back_soon = 10s;
/// In a running session: the time until a credential that could not be checked is asked for again.
constexpr std::uint32_t ask_again_s = 30;
/// A certificate is checked again after this time at the latest, however long it is valid.
constexpr duration longest_trust = 24h;
/// The same for a token while pods have not been read: time for a long list, and for asking about the tokens
/// of 5,000 agents again.
constexpr duration trust_without_pods = 5min;

}  // namespace

// A certificate that names the node is enough. Without one, a token may count.
void agent_session::on_hello(instant now) {
  const shared_state& c = *shared_;
  const wire::hello& said = machine_.greeting();
  auto refused = authorise(said, identity_, c.options.cluster, c.options.agents_uri_prefix);
  if (!refused) return certified(now);
  if (refused->why != wire::reason::wrong_cluster && c.options.review) {
    if (!said.credential.empty()) return ask_about_token();
    if (identity_.fingerprint.empty())
      refused = wire::fault{wire::reason::not_authorised,
                            "the agent has neither certificate nor token: set token-file, or cert and key"};
  }
  machine_.refuse(refused->why, std::move(refused->message), come_back_later);
}

// The handshake verified the certificate once, but a session may last longer than the certificate is valid.
void agent_session::certified(instant now) {
  const auto left = std::chrono::duration_cast<duration>(identity_.ends - std::chrono::system_clock::now());
  if (left <= duration::zero()) {
    return machine_.refuse(wire::reason::reauthentication,
                           "the certificate of this session has expired: connect with the new one",
                           duration::zero());
  }
  const double spread = std::uniform_real_distribution<>(0, 1)(shared_->random);
  welcome(reauthenticate_after_s(std::min<duration>(left, longest_trust), spread), now);
}

/// The peer's whole address. Of an IPv6 address, `address_` has only the network.
network agent_session::whole_address() const {
  const auto at = read_endpoint(address(), 0);
  return at ? async::address_of(at->host).value_or(network()) : network();
}

void agent_session::ask_about_token() {
  if (!shared_->tokens.take(address_, boot_clock::now())) {
    ++shared_->counters.rationed;
    return machine_.refuse(
        wire::reason::overloaded,
        "too many tokens from this address were refused or are still being checked: try again later",
        come_back_soon);
  }
  asking_ = true;
  // The address gets its check back also if the agent has gone meanwhile, and also after trouble with the API
  // server. Weak: an answer that never comes must not keep what we share beyond the loop.
  auto answered = [weak = weak_from_this(), room = std::weak_ptr<shared_state>(shared_),
                   from = address_](const result<token_holder>& holder) {
    if (const auto shared = room.lock(); shared && (holder.has_error() || holder->genuine))
      shared->tokens.give_back(from);
    if (const auto self = weak.lock()) self->reviewed(holder, boot_clock::now());
  };
  shared_->options.review(machine_.greeting().credential, whole_address(), std::move(answered));
}

void agent_session::reviewed(const result<token_holder>& holder, instant now) {
  asking_ = false;
  if (shared_->closed || machine_.ended()) return;
  if (holder.has_error()) {
    unverified(holder.error().message, now);
  } else if (auto refused = authorise(machine_.greeting(), *holder, shared_->options.agents_account)) {
    machine_.refuse(refused->why, std::move(refused->message), come_back_later);
  } else if (auto strange = check_origin(*holder, whole_address(), shared_->options.origin)) {
    if (strange->why == wire::reason::unverified) {
      unverified(std::move(strange->message), now);
    } else {
      machine_.refuse(strange->why, std::move(strange->message), come_back_later);
    }
  } else if (shared_->gone_pods.contains(holder->pod)) {
    machine_.refuse(wire::reason::not_authorised, std::string(pod_is_gone), come_back_later);
  } else {
    token_ends_ = holder->ends;
    belong_to(holder->pod);
    const double spread = std::uniform_real_distribution<>(0, 1)(shared_->random);
    // Without all pods nobody knows whose the address is: the token is looked at again soon.
    const bool is_sure = holder->pods_read || shared_->options.origin == token_origin::anywhere;
    const duration left = holder->ends - now;
    welcome(reauthenticate_after_s(is_sure ? left : std::min(left, trust_without_pods), spread), now);
  }
  on_end(now);
  send();
}

// If the API server cannot be asked, a session whose last token is still valid goes on.
void agent_session::unverified(std::string why, instant now) {
  if (node_ && now < token_ends_) return welcome(ask_again_s, now);
  machine_.refuse(wire::reason::unverified, std::move(why), come_back_soon);
}

void agent_session::welcome(std::uint32_t reauthenticate_after_s, instant now) {
  shared_state& c = *shared_;
  const wire::hello& said = machine_.greeting();
  wire::welcome w;
  w.replica_id = c.options.replica_id;
  w.replicas = c.options.replicas;
  w.reauthenticate_after_s = reauthenticate_after_s;
  if (node_) return machine_.accept(std::move(w), now);  // a renewed credential

  std::string name = canonical_node(said.node);
  const auto id = c.core.node(name);
  if (id.has_error()) return machine_.refuse(wire::reason::overloaded, id.error().message, come_back_later);

  node_link& link = c.link_of(*id);
  std::string displaced;  // the boot id of a session that was heard
  if (const auto older = link.current.lock()) {
    if (is_kept_from(*older, *id, now)) return refuse_for(*older, *id, name, now);
    ++c.counters.superseded;
    if (older->machine_.is_heard(now)) displaced = older->machine_.greeting().boot_id;
    older->close(wire::reason::superseded, "a newer session of this node came from " + address());
    replaced(*older, *id, name, now);
  }
  c.core.welcomed(*id, whole_address(), said.boot_id, displaced, now);
  node_ = *id;
  name_ = std::move(name);
  link.current = weak_from_this();
  waits_until_ = std::max(waits_until_, link.catalogs.free_at());
  link.clock.begin(said.boot_id);
  ++c.counters.welcomed;
  ++c.counters.open;
  --c.counters.greeting;
  leave_seat();
  c.known.add(address_, now);
  c.core.connected(*node_, said.agent_version, peer_.peer_address(), now);
  tell(fmt::format("{} connected, agent {}", who(), said.agent_version), now);
  machine_.accept(std::move(w), now);
  if (!c.interest.wishes.empty()) (void)machine_.want(c.interest);
}

// One agent may open several links to find the replicas behind one address, and reconnects when a link
// breaks: it is still the same machine. Two agents on one machine read the same values, so no verdict depends
// on which one is heard.
bool agent_session::is_another_machine(const agent_session& older) const {
  return machine_.greeting().boot_id != older.machine_.greeting().boot_id;
}

// An agent of version 1.3 or older does not say which process it is.
bool agent_session::is_same_agent(const agent_session& older) const {
  const wire::hello &now = machine_.greeting(), &before = older.machine_.greeting();
  return now.process != 0 && now.process == before.process && now.boot_id == before.boot_id;
}

// The reasons are at the top of this file.
bool agent_session::is_kept_from(const agent_session& older, store::node_id id, instant now) const {
  if (is_same_agent(older) || !older.machine_.is_heard(now)) return false;
  const aggregator::node_tenants& tenants = shared_->core.tenants(id);
  const network here = whole_address(), there = older.whole_address();
  if (here != there) return !tenants.is_before(here, there);
  if (!is_another_machine(older) || !shared_->link_of(id).swaps.contested(now)) return false;
  return tenants.boot_at(here) != machine_.greeting().boot_id;
}

// An agent that has only moved to another address is told to come back soon: its old session will be silent
// by then.
void agent_session::refuse_for(const agent_session& older, store::node_id id, const std::string& name,
                               instant now) {
  shared_state& c = *shared_;
  node_link& link = c.link_of(id);
  link.other = address();
  const bool was_contested = link.swaps.contested(now);
  if (link.swaps.swapped(now) || was_contested) {
    link.swaps.claimed(now);
    c.contested[name] = id;
    if (!was_contested)
      c.log.warning(
          "{}: two agents claim it; the one at {} was there first and stays, the one at {} is refused", name,
          older.address(), address());
  }
  machine_.refuse(wire::reason::contested,
                  fmt::format("the agent at {} has the node {} and stays: give each machine a node "
                              "name and a certificate or token of its own",
                              older.address(), name),
                  link.swaps.contested(now) ? come_back_later : come_back_soon);
}

void agent_session::replaced(const agent_session& older, store::node_id id, const std::string& name,
                             instant now) {
  shared_state& c = *shared_;
  node_link& link = c.link_of(id);
  link.other = older.address();
  if (is_same_agent(older)) return;
  if (!link.swaps.swapped(now)) return;
  ++c.counters.frequent_swaps;
  const bool two = is_another_machine(older);
  c.log.warning(
      "{}: its sessions replace one another (now from {}, before from {}): {}", name, address(), link.other,
      two                                ? "two machines claim it; the one that was there first has it"
      : machine_.greeting().process != 0 ? "two agents run on this machine with one identity"
                                         : "two agents with one identity, or a link that keeps breaking");
  if (!two) return;
  link.swaps.claimed(now);
  c.contested[name] = id;
}

}  // namespace binnacle::ingest
