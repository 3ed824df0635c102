#include "agent/sources/path/path_kind.hpp"

#include "agent/sources/path/echo.hpp"

#include <algorithm>
#include <chrono>
#include <linux/capability.h>

namespace binnacle::agent {

using std::chrono::milliseconds;

void path_kind::bind(config_spec& spec) {
  spec.group("path: round trip and loss to other machines");
  spec.add_or_zero("path-period", chosen_.period, milliseconds(20), std::chrono::hours(1),
                   "time between two probes of one peer, at least 100ms; 0s: period");
  spec.add("path", named_,
           "peers to measure round trip and loss to: HOST:PORT (a TCP connection), icmp:HOST, or NAME= in "
           "front of either");
  spec.add("path-timeout", chosen_.timeout, milliseconds(10), std::chrono::minutes(1),
           "a probe that has no answer after this time counts as lost; at most path-period");
}

result<void> path_kind::complete(const settings& /*s*/) {
  auto peers = parse_peers(named_);
  if (!peers) return error{errc::invalid_input, "path: " + peers.error().message};
  chosen_.peers = *std::move(peers);
  return {};
}

void path_kind::add_needs(const settings& /*s*/, source_needs& needs) const {
  const bool pings =
      std::any_of(chosen_.peers.begin(), chosen_.peers.end(), [](const path_peer& p) { return p.icmp; });
  if (!pings || ping_sockets_allowed()) return;
  needs.capabilities.push_back(
      {CAP_NET_RAW, "icmp: peers of path (no group of this user is in net.ipv4.ping_group_range)"});
}

std::unique_ptr<source> path_kind::make(const settings& s, const source_parts& /*with*/) const {
  if (chosen_.peers.empty()) return nullptr;
  auto o = chosen_;
  o.period = std::max<duration>(s.period_of(chosen_.period), milliseconds(100));
  return std::make_unique<path_source>(std::move(o));
}

std::vector<finding> path_kind::why_not_made() const {
  return {{finding::grade::absent, "round trip and loss to other machines", "no peer is named",
           "name some with path, if policies are to know of them"}};
}

}  // namespace binnacle::agent
