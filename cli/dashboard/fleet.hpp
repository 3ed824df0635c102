#pragma once

#include "cli/json.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace binnacle::cli::dashboard {

/// The fleet as the aggregator told it last, with the version in which each part changed. A page that has
/// version 7 gets all later changes at once, however many versions came since. Pure.
class fleet {
 public:
  /// Takes an answer of /api/v1/nodes that arrived at `now_ms` (Unix time).
  void take(const json::value& answer, std::int64_t now_ms);

  std::uint64_t version() const noexcept { return version_; }  ///< 0: nothing was taken yet
  std::size_t size() const noexcept { return nodes_.size(); }

  /// What changed after version `seen`, as JSON:
  /// {"version":8,"whole":true,"nowMs":…,"metrics":[…],"total":n,"omitted":n,"nodes":[…]}, and
  /// "strategiesOmitted":n if the answer had no room for the verdicts of some. "nodes" has every
  /// node if `seen` is 0 or a node has gone since; else only the nodes that changed after `seen`. Each node
  /// has its name and those of these parts that changed:
  ///   "head": {"connected":…,"address":…,…}: all that the API says, except the parts below and "seenMs";
  ///   "values": {"METRIC":{"value":71.4,"readMs":…}}: with the Unix time of the reading instead of its age:
  ///             so a value that is not read again does not change;
  ///   "verdicts": as in the API.
  std::string since(std::uint64_t seen) const;

 private:
  struct value {
    std::string what;           // the JSON fields of the value without its age
    std::int64_t read_ms = -1;  // Unix time; -1: never read
  };
  struct part {
    std::string text;
    std::uint64_t changed = 0;
  };
  struct node {
    std::map<std::string, value, std::less<>> values;
    part head, shown_values, verdicts;
    std::uint64_t seen = 0;  // the last version in which the node was there
    std::uint64_t changed() const;
  };
  void set(part& p, std::string text) const;
  void take_values(node& n, const json::object& values, std::int64_t now_ms);

  std::map<std::string, node, std::less<>> nodes_;
  std::string metrics_ = "[]";
  std::int64_t now_ms_ = 0;
  std::int64_t total_ = 0, omitted_ = 0, strategies_omitted_ = 0;
  std::uint64_t version_ = 0;
  std::uint64_t whole_since_ = 0;  // a page with an older version than this needs the whole fleet
};

}  // namespace binnacle::cli::dashboard
