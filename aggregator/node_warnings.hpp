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

// Sentences for a person about nodes that are not as they should be, with the remedy: a function for each
// cause. Of many nodes the first few are named, and how many more there are. Pure.

/// Nodes whose watts are far from those of nodes like them.
std::vector<std::string> power_warnings(const std::map<std::string, power_outliers::outlier>& odd);
/// Nodes that two agents claim.
std::vector<std::string> claim_warnings(const std::vector<ingest::contest>& contests);
/// Nodes whose sessions end again and again, and the policies of `all` behind it, where that can be known.
std::vector<std::string> session_warnings(const std::vector<ingest::repeated_end>& ends,
                                          const policy::policy_table& all);
/// Nodes whose agent is connected and that the API server does not know.
std::vector<std::string> registration_warnings(const std::vector<std::string>& without_object);
/// For ten minutes after a candidate's value was so far from the others' that prioritize clamped it, or could
/// not be, so that it counted as none.
std::vector<std::string> score_warnings(const extender::counters& of, instant now);
struct denial {
  std::string port;  ///< for people: "the extender"
  tls::denials seen;
};
/// Ports where certificates with a denied serial number were shown: for ten minutes after the last of them.
std::vector<std::string> denial_warnings(const std::vector<denial>& seen, instant now);
/// Warns from the moment when half of the ids for nodes are given out: without a free id a new node cannot be
/// taken.
std::vector<std::string> id_warnings(std::size_t given, std::size_t most);

}  // namespace binnacle::aggregator
