#pragma once

#include "common/tls/denials.hpp"
#include "common/wire/reason.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace binnacle::ingest {

/// What this room has counted since the start. The ingest loop writes it; other threads ask that loop for a
/// copy.
struct ingest_counters {
  // Connections before they have a session.
  std::uint64_t accepted = 0;
  std::uint64_t turned_away = 0;  ///< reset: too many wait for the handshake, or all sessions are taken
  std::uint64_t silent = 0;       ///< sent no ClientHello in time
  std::uint64_t no_hello = 0;     ///< sent something other than a ClientHello
  std::uint64_t left_line = 0;    ///< closed by the peer while it waited for its handshake
  std::uint64_t begun = 0;        ///< handshakes that began
  std::uint64_t evicted = 0;      ///< ended before the hello, to make room for a newcomer
  std::uint64_t rationed = 0;     ///< hellos refused without a look at their token: see token_ration
  std::uint64_t handshake_failures = 0;  ///< no TLS 1.3, no good certificate, or too slow
  tls::denials denied;                   ///< refused or ended
  // Sessions.
  std::uint64_t welcomed = 0;
  std::uint64_t floods = 0;          ///< ended because the peer went beyond a bound of tls::engine
  std::uint64_t superseded = 0;      ///< ended because a newer session of the node came
  std::uint64_t frequent_swaps = 0;  ///< times a node's agents replaced one another thrice within a minute
  std::array<std::uint64_t, wire::reason_count> ended{};  ///< refused or ended, by wire::reason
  // What came through the sessions; sums over all of them.
  std::uint64_t bytes = 0;  ///< inside TLS
  std::uint64_t frames = 0;
  std::uint64_t unknown_kinds = 0;  ///< frames of a newer minor version, skipped
  std::uint64_t left_out = 0;       ///< items of messages that could not be read: see wire::omissions
  std::uint64_t batches = 0;
  std::uint64_t samples = 0;
  std::uint64_t slowed_catalogs = 0;  ///< catalogs after which an agent had to wait: see node_pace
  std::uint64_t clock_resets = 0;     ///< an agent's clock went back: its link's offset was forgotten
  // Now.
  std::uint64_t queued = 0;    ///< connections that wait for their handshake
  std::uint64_t greeting = 0;  ///< connections in the handshake or before the welcome
  double handshake_rate = 0;   ///< handshakes that may begin in a second
  std::uint64_t open = 0;      ///< sessions that were welcomed
  std::uint64_t pods = 0;      ///< pods whose tokens opened present sessions

  std::uint64_t of(wire::reason r) const noexcept { return ended[static_cast<std::size_t>(r)]; }
};

/// A node that two agents claim.
struct contest {
  std::string node;
  std::string stays;  ///< the address of the agent whose session goes on; empty: it has left
  std::string other;  ///< the address of the agent that was replaced or refused
};

/// How many of the following are told apart.
constexpr std::size_t most_repeated_ends = 5;

/// Nodes whose sessions end again and again for one reason. A message that is refused is a reason for each
/// sentence that is said of it, so that each policy that causes one is found; beyond `most_repeated_ends`
/// they are taken together.
struct repeated_end {
  wire::fault why;  ///< of one of them
  std::vector<std::string> nodes;
};

}  // namespace binnacle::ingest
