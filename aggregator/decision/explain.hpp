#pragma once

#include "aggregator/decision/ring.hpp"
#include "common/text/json_writer.hpp"

#include <string>
#include <vector>

/// Decisions as people and programs read them. The JSON is the contract between the ops face and `binnacle
/// why`.
namespace binnacle::decision {

struct explain_options {
  std::size_t nodes = 50;  ///< list at most so many candidates, refused ones first; the rest is counted
  bool all = false;        ///< list every candidate, in request order
  std::string node;        ///< list this one only
};

/// One decision as a JSON object:
///   {"id":7,"time":"2026-01-01T00:00:00Z","unixMs":…,"verb":"filter","outcome":"decided","dryRun":false,"tookUs":310,
///    "pod":{"namespace":…,"name":…,"uid":…},"wantedPolicy":"power-policy",
///    "policy":{"namespace":…,"name":…,"revision":3,"mode":"Enforce","logicalOperator":"anyOf"} or null,
///    "rules":[{"rule":"rapl_power_watts GreaterThan 60","metric":…,"operator":…,"target":60,"refused":1}],
///    "candidates":3,"passed":2,"refused":1,"unknown":0,"oldestMs":410,
///    "summary":"filter of pod …: 2 of 3 nodes pass …",
///    "nodes":[{"node":"node-b","verdict":"refused","rule":0,"text":"node-b refused: …",
///              "values":[{"value":71.4,"ageMs":180,"margin":11.4}]}],
///    "nodesOmitted":0} and "cut":true if not all nodes that were asked for had room in the answer.
/// `passed` counts the nodes that went back to the scheduler (in DryRun: all of them). A preempt has the
/// members of a filter: its candidates are full nodes where pods could be evicted to make room. margin =
/// value − target.
///
/// A decision also has:
/// "judgingStopped":true if verdicts were out of date, so that onMissing decided;
/// "spread":{"state":"spreading","rate":"0.5","replicaSet":"web-7d","replicas":4,"quota":2,"placed":1,"inFlight":0,
/// "by":"zone","areas":[{"name":"eu-1b","pods":0}],"refused":1,"text":"podspread-rate 0.5 of …"} if the pod
/// asks to be spread. The policy of a minimizepower has "objective":"BestChord","podCores":1.500, and
/// "maxLoad":0.8 if its objective has such a limit, and "onlyExternal":true if only model servers' curves
/// count.
///
/// A value that was absent has "absent":"<reason>" instead of value and margin. "partial":true means that it
/// stands for a part of its members or of its window, "windowCovered":62 for how many percent of its window.
///
/// A node of a prioritize has "score":7 instead of "rule", and for minimizepower
/// "power":{"cost":"known","loadCores":23.4,"inFlightCores":4,"wattsNow":212.4,
/// "wattsWithPod":231,"wattsPerCore":4.6,"model":"node","modelAgeSeconds":48,"coveredPercent":62,"noisePercent":1.2},
/// with "idleGuessed":true where the idle power of such a node was never measured. "wattsPerCore" is with
/// BestChord the price of a core, which ranks the node, otherwise the slope of the best chord. Without a
/// model or a load there is no "loadCores", and no watts. A node also has "crowd":2 where pods just placed
/// there took two points off, "beyond":true where the value was so far from the other candidates' values that
/// it counted as the end of their range, and "implausible":true where the value was impossible, so that it
/// counted as absent.
std::string to_json(const record& r, const node_names& names, const explain_options& options = {});

/// Writes the object of to_json() into an answer that also has other parts.
void write_record(json_writer& out, const record& r, const node_names& names,
                  const explain_options& options = {});

/// A candidate that an answer lists: its place in record::candidates, and, for an unknown node, that of its
/// name in record::strangers.
struct listed {
  std::uint32_t candidate = 0, stranger = 0;
};

/// Writes the object of to_json() piece by piece, because one decision may list 250,000 values, which take
/// half a second.
class record_writer {
 public:
  /// Writes everything before the nodes. `out` must outlive it.
  record_writer(json_writer& out, const record& r, const node_names& names, const explain_options& options);

  /// Writes the next nodes until they have `values` values together, at least one node unless all are
  /// written. Returns how many values they have; a node without any counts as one. `r` is the record of the
  /// constructor, which may have moved since.
  std::size_t write_nodes(const record& r, const node_names& names, std::size_t values);
  bool complete() const noexcept { return written_ == list_.size(); }
  /// Closes the object. If not all nodes were written, it says "cut":true, and nodesOmitted counts the rest.
  void end();

 private:
  json_writer& out_;
  std::vector<listed> list_;
  std::size_t written_ = 0;
  std::uint32_t asked_;
};

/// The decision as text for people: a headline, then one line for each node, "node-b refused:
/// rapl_power_watts 71.4 > 60 (11.4 over), read 180ms ago".
std::vector<std::string> to_text(const record& r, const node_names& names,
                                 const explain_options& options = {});

/// The headline alone.
std::string summary(const record& r);

/// The line of candidate `i`, whose name is `name`.
std::string sentence(const record& r, std::size_t i, std::string_view name);

}  // namespace binnacle::decision
