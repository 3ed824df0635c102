#pragma once

#include "aggregator/snapshot/snapshot.hpp"
#include "common/clock.hpp"
#include "common/crowd.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::aggregator {

/// The addresses from which a node's agent was welcomed, in order. An address keeps its rank for a day after
/// its last session, also through a restart of ours. Many new addresses cannot push out older ones. Pure.
class node_tenants {
 public:
  static constexpr std::size_t most = snapshot::most_tenants;
  static constexpr duration remembered = std::chrono::hours(24);

  /// A session with this boot id was welcomed, and has the node until left(). `displaced`: the boot id of the
  /// session that it replaced, if that session was still heard; empty after a reboot.
  void welcomed(const network& from, std::string_view boot, std::string_view displaced, instant now) {
    left(now);
    std::erase_if(all_, [now](const snapshot::tenant& t) { return is_forgotten(t, now); });
    present_ = from;
    const auto at = find(from);
    if (at == all_.end()) {
      if (all_.size() < most) all_.push_back({from, std::string(boot), now});
      return;
    }
    at->last = now;
    if (at->boot != displaced) at->boot = boot;
  }
  /// The session that has the node ends.
  void left(instant now) {
    if (!present_) return;
    if (const auto at = find(*present_); at != all_.end()) at->last = now;
    present_.reset();
  }
  /// Whether the address `one` was welcomed before `other`.
  bool is_before(const network& one, const network& other) const { return find(one) < find(other); }
  /// The boot id of the machine at this address; empty if it is not known.
  std::string_view boot_at(const network& from) const {
    const auto at = find(from);
    return at == all_.end() ? std::string_view() : at->boot;
  }

  /// For a snapshot: those that are remembered at `now`.
  std::vector<snapshot::tenant> to_keep(instant now) const {
    node_tenants then = *this;
    then.left(now);
    std::erase_if(then.all_, [now](const snapshot::tenant& t) { return is_forgotten(t, now); });
    return std::move(then.all_);
  }
  /// Goes on from a snapshot, which may be wrong. `shift` brings its instants to ours.
  void recall(std::vector<snapshot::tenant> kept, duration shift, instant now) {
    for (snapshot::tenant& t : kept) t.last = std::min(t.last + shift, now);
    std::erase_if(kept, [now](const snapshot::tenant& t) { return is_forgotten(t, now); });
    kept.resize(std::min(kept.size(), most));
    all_ = std::move(kept);
    present_.reset();
  }

 private:
  static bool is_forgotten(const snapshot::tenant& t, instant now) { return now - t.last > remembered; }
  std::vector<snapshot::tenant>::iterator find(const network& address) {
    return std::ranges::find(all_, address, &snapshot::tenant::address);
  }
  std::vector<snapshot::tenant>::const_iterator find(const network& address) const {
    return std::ranges::find(all_, address, &snapshot::tenant::address);
  }
  std::vector<snapshot::tenant> all_;  // in the order in which they came
  std::optional<network> present_;     // whose session has the node
};

}  // namespace binnacle::aggregator
