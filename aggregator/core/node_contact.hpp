#pragma once

#include "aggregator/snapshot/snapshot.hpp"
#include "common/clock.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace binnacle::aggregator {

/// From when until when a node's agent has been connected. Short pauses do not count, as of a restart of
/// ours. From it another replica, or the next process, learns how much this one knows of the node. Pure.
class node_contact {
 public:
  /// A longer pause begins a new contact: what happened in it is not known.
  static constexpr duration longest_pause = std::chrono::minutes(1);

  /// The agent is connected, perhaps by a new session beside one that goes on.
  void came(instant now) {
    if (!is_connected_ && (!heard_ || now - heard_->until > longest_pause))
      heard_ = snapshot::contact{now, now};
    is_connected_ = true;
  }
  void left(instant now) {
    if (is_connected_) heard_->until = now;
    is_connected_ = false;
  }

  /// For a snapshot.
  std::optional<snapshot::contact> to_keep(instant now) const {
    node_contact then = *this;
    then.left(now);
    return then.heard_;
  }
  /// Goes on from a snapshot, which may be wrong. `shift` brings its instants to ours.
  void recall(const std::optional<snapshot::contact>& kept, duration shift, instant now) {
    *this = {};
    if (kept)
      heard_ = snapshot::contact{std::min(kept->since + shift, now), std::min(kept->until + shift, now)};
  }

 private:
  std::optional<snapshot::contact> heard_;  // until: not while it is connected
  bool is_connected_ = false;
};

}  // namespace binnacle::aggregator
