#include "agent/sources/path/peer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::agent {
namespace {

constexpr std::size_t most_peers = 32;
constexpr std::size_t longest = 253;  // a DNS name; RFC 1035

}  // namespace

result<path_peer> parse_peer(std::string_view text) {
  const auto wrong = error{errc::invalid_input,
                           fmt::format("\"{}\" is not a peer: use HOST:PORT, icmp:HOST, or NAME=HOST:PORT",
                                       text.substr(0, longest))};
  path_peer out;
  auto rest = text;
  if (const auto equals = rest.find('='); equals != rest.npos) {
    out.name = rest.substr(0, equals);
    rest.remove_prefix(equals + 1);
    if (out.name.empty()) return wrong;
  } else {
    out.name = rest;
  }
  constexpr std::string_view icmp = "icmp:";
  out.icmp = rest.starts_with(icmp);
  if (out.icmp) rest.remove_prefix(icmp.size());
  const auto plain = [](char c) { return c > ' ' && c <= '~' && c != '/' && c != '='; };
  if (rest.size() > longest + 8 || out.name.size() > longest ||
      !std::all_of(rest.begin(), rest.end(), plain)) {
    return wrong;
  }
  const auto at = read_endpoint(rest, 0);
  // A TCP connection needs a port; an echo request must not have one.
  if (!at || (at->port == 0) != out.icmp) return wrong;
  out.at = *at;
  return out;
}

result<std::vector<path_peer>> parse_peers(const std::vector<std::string>& texts) {
  if (texts.size() > most_peers) {
    return error{errc::invalid_input, fmt::format("{} peers are named, {} at most are probed: name fewer",
                                                  texts.size(), most_peers)};
  }
  std::vector<path_peer> all;
  for (const auto& text : texts) {
    auto peer = parse_peer(text);
    if (!peer) return peer.error();
    const auto same = [&](const path_peer& other) { return other.name == peer->name; };
    if (std::any_of(all.begin(), all.end(), same)) {
      return error{
          errc::invalid_input,
          fmt::format("two peers are named {}: give one of them another name, NAME=HOST:PORT", peer->name)};
    }
    all.push_back(*std::move(peer));
  }
  return all;
}

}  // namespace binnacle::agent
