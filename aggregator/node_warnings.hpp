#pragma once

#include "aggregator/ingest/counters.hpp"
#include "aggregator/power_outliers.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::aggregator {

/// Sentences for a person about nodes that are not as they should be, with the remedy: the first few, and how
/// many more there are. `without_object`: names of nodes whose agent is connected and that the API server
/// does not know; `odd`: those whose watts are far from those of nodes like them. Pure.
std::vector<std::string> node_warnings(const std::vector<ingest::contest>& contests,
                                       const std::vector<ingest::repeated_end>& ends,
                                       const std::vector<std::string>& without_object,
                                       const std::map<std::string, power_outliers::outlier>& odd);

/// A sentence from half of the ids of nodes on, since a new node gets none when all are given out; else
/// nothing. Pure.
std::optional<std::string> id_warning(std::size_t given, std::size_t most);

}  // namespace binnacle::aggregator
