#pragma once

#include "aggregator/extender/counters.hpp"
#include "aggregator/ingest/counters.hpp"
#include "aggregator/outliers/power_outliers.hpp"
#include "common/tls/denials.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace binnacle::aggregator {

// Sentences for people about faulty nodes, with the remedy; one function for each cause. If there are many
// nodes, a sentence names the first few and says how many more there are. Pure.

/// Nodes whose watts are far from those of similar nodes.
std::vector<std::string> power_warnings(const std::map<std::string, power_outlier>& odd);
/// Nodes that two agents claim.
std::vector<std::string> claim_warnings(const std::vector<ingest::contest>& contests);
/// Nodes whose sessions end again and again, and the policies in `all` that cause it, if that is known.
std::vector<std::string> session_warnings(const std::vector<ingest::repeated_end>& ends,
                                          const policy::policy_table& all);
/// Nodes whose agent is connected and that the API server does not know.
std::vector<std::string> registration_warnings(const std::vector<std::string>& without_object);
/// Values that prioritize did not take as they were: it clamped one that was far from the other candidates'
/// values, or ignored an impossible one. Each warning lasts for ten minutes.
std::vector<std::string> score_warnings(const extender::counters& of, instant now);
struct denial {
  std::string port;  ///< for people: "the extender"
  tls::denials seen;
};
/// Ports at which certificates with a denied serial number were shown. Each warning lasts for ten minutes
/// after the last one.
std::vector<std::string> denial_warnings(const std::vector<denial>& seen, instant now);
/// Warns once half of the ids for nodes are used: without a free id no new node can be taken.
std::vector<std::string> id_warnings(std::size_t given, std::size_t most);

}  // namespace binnacle::aggregator
