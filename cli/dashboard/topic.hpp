#pragma once

#include "common/error.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace binnacle::cli::dashboard {

enum class subject : unsigned char { fleet, status, policies, links, doctor, node, pods, decisions, labels };

/// A topic that a page follows. If many pages follow it, it is asked for once.
struct topic {
  subject what = subject::fleet;
  std::string about = {};  ///< the node's name, a part of the pod's name, or a label's key

  bool operator<(const topic& other) const {
    return std::tie(what, about) < std::tie(other.what, other.about);
  }
  bool operator==(const topic&) const = default;
};

/// Reads a topic: "fleet", "status", "policies", "links" (which agents each replica has), "doctor",
/// "node/NAME", "pods/NODE" (their names by UID), "decisions/", "decisions/POD" (POD is a part of the pod's
/// name), "labels/" (the keys of Node objects' labels) or "labels/KEY" (which nodes carry which value).
/// Errors: invalid_input.
result<topic> parse_topic(std::string_view text);

/// The name of the topic's event, such as "fleet".
std::string_view name_of(subject what);

/// The path to ask the aggregator for. The doctor has none, nor have names of pods, which the API server is
/// asked for. `metrics` are added to those of the fleet that the aggregator chooses itself.
std::string target_of(const topic& t, const std::vector<std::string>& metrics = {});

/// Whether each replica has an answer of its own, so that all must be asked; for other topics one answer is
/// enough.
bool is_each_replicas(subject what);

/// The pause between two answers.
std::chrono::milliseconds pause_of(subject what, std::size_t nodes);

}  // namespace binnacle::cli::dashboard
