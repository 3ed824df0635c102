#pragma once

#include "aggregator/ops/node_labels.hpp"
#include "aggregator/policy/published/published.hpp"
#include "aggregator/predict/model.hpp"
#include "aggregator/questions/question.hpp"
#include "aggregator/store/view.hpp"
#include "common/http/sliced.hpp"
#include "common/text/json_writer.hpp"

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

/// Nodes, values and verdicts as the ops API writes them; README.md in this folder documents the fields.
namespace binnacle::ops {

/// A metric shown for each node.
struct asked_metric {
  std::string name;
  questions::question ask;
  bool foreign = false;  ///< not a metric of ours: written without zeros at the end
};

/// {"value":71.4,"ageMs":180}, with "partial":true where a member is missing, or
/// {"absent":"stale","ageMs":12000}. The age is left out if the value was never read.
void write_sample(json_writer& out, const store::sample& s, instant now);

/// Writes the verdicts of all policies on one node after another. The parts that are the same for all nodes
/// are made only once. The policies are those of its beginning.
class verdict_writer {
 public:
  /// `bytes`: what the verdicts on one node may take, by estimate. If all of them would take more, some
  /// strategies are left out for every node: each namespace has as many as the others, so that whoever writes
  /// a thousand policies leaves out only their own.
  explicit verdict_writer(const policy::policy_table& policies,
                          std::size_t bytes = std::numeric_limits<std::size_t>::max());
  std::size_t left_out() const noexcept { return left_out_; }  ///< strategies
  /// What it takes to write the verdicts on one node, in verdicts of a few rules.
  std::size_t work() const noexcept { return work_; }
  /// [{"policy":"default/power","strategy":"dontschedule","mode":"Enforce","state":"violating","rule":"…"}…],
  /// "rule" only if one decided.
  void write(json_writer& out, store::node_id id, instant now) const;

 private:
  struct judged_strategy {
    std::shared_ptr<const policy::published_policy> owner;
    const policy::published_strategy* strategy;  // of it
    std::string head;                            // "policy":…,"strategy":…,"mode":…
    std::size_t bytes;                           // of a verdict, by estimate
  };
  void leave_out(std::size_t bytes);

  std::vector<judged_strategy> all_;
  std::size_t left_out_ = 0, work_ = 0;
};

/// {"name":…,"connected":…,"seenMs":…,…,"values":{…},"verdicts":[…],"labels":{…}}, with "model" if `known`
/// is not null. Returns how many series were looked at to find out what the metrics mean there.
std::size_t write_node(json_writer& out, const store::node_view& node,
                       const std::vector<asked_metric>& metrics, const verdict_writer& verdicts,
                       const predict::model* known, instant now);

/// The same with all series, with the values that each verdict's rules compare, and, if `object_labels` is
/// not empty, with the labels of the Node object. Made in slices, because a node may have ten thousand series
/// of long labels. Series and policies are those of its beginning, whatever the node announces meanwhile, and
/// also if it is forgotten.
std::unique_ptr<http::slices> node_in_full(const store::node_view& node, const policy::policy_table& policies,
                                           instant now, const label_reader& object_labels = {});

}  // namespace binnacle::ops
