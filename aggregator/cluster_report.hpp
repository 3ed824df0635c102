#pragma once

#include "aggregator/labels/counters.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace binnacle::aggregator {

/// What this replica has read from the Kubernetes API and written to it; a copy.
struct cluster_report {
  std::string url;
  bool policies_read = false;  ///< all of them, once since the start
  std::size_t policies = 0;
  bool pods_read = false;                               ///< all of them, once since the start
  std::size_t pods = 0;                                 ///< pods that have a node
  std::uint64_t pods_left_out = 0;                      ///< pods beyond the bound
  std::uint64_t pod_labels_left_out = 0;                ///< pods whose labels were not kept, each once
  std::size_t pods_without_labels = 0;                  ///< those of them that are there now
  std::string pod_without_labels;                       ///< the last of them
  std::uint64_t sets_left_out = 0;                      ///< ReplicaSets beyond the bound
  std::uint64_t events_dropped = 0, wakes_dropped = 0;  ///< beyond the bound
  bool leads = false;                                   ///< this replica holds the Lease, so it writes
  /// Who besides administrators may write TASPolicy objects, as last seen.
  std::vector<std::string> policy_writers;
  std::vector<std::string> troubles;  ///< sentences: what may be out of date, and the remedy
  std::uint64_t calls = 0, refused = 0, broken = 0, lists = 0;
  std::uint64_t members_left_out = 0;  ///< labels and annotations of objects beyond json_reader::most_members
  labels::patch_counters patches;      ///< of nodes
  std::size_t foreign_labels = 0;      ///< labels left alone because another owner has them
};

}  // namespace binnacle::aggregator
