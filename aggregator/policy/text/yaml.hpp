#pragma once

#include "aggregator/policy/policy.hpp"
#include "aggregator/policy/text/problem.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// TASPolicy manifests: text in, policies and problems out. No file is touched; nothing here throws.
namespace binnacle::policy {

constexpr std::size_t most_text_bytes = std::size_t{1024} * 1024;
constexpr std::size_t most_policies = 1'000;  ///< of one file
constexpr std::size_t most_rules = 64;        ///< of one strategy

struct parsed_policy {
  policy value;        ///< with the strategies that are right; the revision is content_revision()
  int line = 0;        ///< of the object in its file, from 1
  bool usable = true;  ///< false: the policy as a whole is wrong; only `value.key` counts
  std::set<strategy_kind> refused;                       ///< its strategies that are wrong and left out
  std::map<strategy_kind, std::vector<int>> rule_lines;  ///< of the strategies in `value`, from 1
};

struct parsed_text {
  std::vector<parsed_policy> policies;  ///< in the order of the text, each key once
  std::vector<problem> problems;        ///< by line
  bool unattributed = false;            ///< something was so wrong that it cannot be said which policy it was
};

/// Reads a file's text: YAML (or JSON) documents, each a TASPolicy of telemetry.intel.com/v1alpha1, a
/// TASPolicyList or a v1 List; other kinds are skipped with a note. `file` is for the problems' texts.
///
/// Everything that TAS accepted is accepted, and the fields that we add (docs/policies.md) besides. A
/// mistake costs the smallest thing around it: a strategy, else the policy, else the document. No field is
/// ever ignored silently, but for metadata and status, which are Kubernetes' own. Cost: some milliseconds for
/// a hundred policies.
parsed_text parse_policies(std::string file, std::string_view text);

}  // namespace binnacle::policy
