#pragma once

#include "aggregator/policy/published/published.hpp"
#include "aggregator/questions/question.hpp"
#include "aggregator/store/view.hpp"
#include "common/text/json_writer.hpp"

#include <string>
#include <vector>

/// Nodes, values and verdicts as the ops API writes them; README.md in this folder documents the fields.
namespace binnacle::ops {

/// A metric shown for each node.
struct asked_metric {
  std::string name;
  questions::question ask;
  bool foreign = false;  ///< none of ours: its number is written without zeros at the end
};

/// {"value":71.4,"ageMs":180}, with "partial":true where a member is missing, or
/// {"absent":"stale","ageMs":12000}. No age: never read.
void write_sample(json_writer& out, const store::sample& s, instant now);

/// [{"policy":"default/power","strategy":"dontschedule","mode":"Enforce","state":"violating","rule":"…"}…],
/// rule only where one decided.
void write_verdicts(json_writer& out, const policy::policy_table& policies, store::node_id id, instant now);

/// {"name":…,"connected":…,"seenMs":…,…,"values":{…},"verdicts":[…],"labels":{…}}
void write_node(json_writer& out, const store::node_view& node, const std::vector<asked_metric>& metrics,
                const policy::policy_table& policies, instant now);

/// The same with every series and, for each verdict's rules, the values they compare.
void write_node_in_full(json_writer& out, const store::node_view& node, const policy::policy_table& policies,
                        instant now);

}  // namespace binnacle::ops
