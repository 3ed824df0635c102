#pragma once

#include "common/error.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace binnacle::cli::dashboard {

enum class subject : unsigned char { fleet, status, policies, links, node, decisions, labels };

/// What a page follows. One that many pages follow is asked for once.
struct topic {
  subject what = subject::fleet;
  std::string about = {};  ///< the node's name, a part of the pod's, or a label's key

  bool operator<(const topic& other) const {
    return std::tie(what, about) < std::tie(other.what, other.about);
  }
  bool operator==(const topic&) const = default;
};

/// "fleet", "status", "policies", "links" (which agents each replica has), "node/NAME", "decisions/",
/// "decisions/POD" (a part of the pod's name), "labels/" (the keys of Node objects' labels) or "labels/KEY"
/// (which nodes carry which value). Errors: invalid_input.
result<topic> parse_topic(std::string_view text);

/// "fleet", the name of the event that tells about it.
std::string_view name_of(subject what);

/// What is asked of the aggregator; `metrics` are those of the fleet besides the aggregator's own choice.
std::string target_of(const topic& t, const std::vector<std::string>& metrics = {});

/// Whether each replica has an answer of its own; of the others one answer is enough.
bool is_each_replicas(subject what);

/// How long to wait between two answers.
std::chrono::milliseconds pause_of(subject what, std::size_t nodes);

}  // namespace binnacle::cli::dashboard
