#include "aggregator/own_warnings.hpp"

#include "aggregator/kube/objects/pod_objects.hpp"
#include "aggregator/kube/reviews/policy_writers.hpp"
#include "aggregator/node_warnings.hpp"
#include "aggregator/policy/published/view.hpp"
#include "aggregator/policy/strategies.hpp"
#include "aggregator/sender/dialect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace binnacle::aggregator {
namespace {

class sentences {
 public:
  void add(std::string one) {
    if (!one.empty()) out.push_back(std::move(one));
  }
  void add(std::vector<std::string> several) { std::ranges::move(several, std::back_inserter(out)); }

  std::vector<std::string> out;
};

std::vector<denial> denials(const own_numbers& n) {
  std::vector<denial> out{{"agents' port (ingest)", n.ingest.sessions.denied}};
  for (const ops::listener_report& l : n.listeners) out.push_back({l.name, l.counters.denied});
  return out;
}

/// Warnings about policies that need models nobody may be asked for, because `model-servers` is empty or
/// there is no cluster.
std::vector<std::string> unasked(const own_numbers& n) {
  std::vector<std::string> out;
  if (n.model_servers) return out;
  for (const auto& [key, policy] : n.nodes.policies()) {
    for (const policy::published_strategy& s : policy->strategies) {
      if (policy::description_of(s.kind).predicts_watts() && !s.power.takes_learned())
        out.push_back(fmt::format(
            "policy {}/{} says model: External, but no model server may be asked, so it scores no "
            "node: list the servers in model-servers (in the chart aggregator.modelServers), or say "
            "model: Auto",
            key.name_space, key.name));
    }
  }
  return out;
}

/// A warning about pods that no label selector finds; empty: there are none.
std::string labels_warning(const cluster_report& k) {
  if (k.pods_without_labels == 0) return {};
  return fmt::format(
      "{} pods have more labels than are kept (the last is {}; {} KiB for a pod, {} MiB for all): no "
      "labelSelector of custom metrics finds them, so an HPA lacks their values; give these pods fewer "
      "labels",
      k.pods_without_labels, k.pod_without_labels, kube::pod_objects::most_label_bytes >> 10,
      kube::pod_objects::most_labels_bytes >> 20);
}

}  // namespace

std::vector<std::string> own_warnings(const own_numbers& n, const settings& s, instant now) {
  sentences all;
  if (n.nodes.judging_stopped(now))
    all.add(
        "nothing has been judged for more than five seconds, so onMissing decides: the ingest loop is stuck; "
        "look at its log and its thread, and start it again");
  if (s.unsafe) all.add("the extender speaks plain HTTP to anybody (--unsafe): for trials only");
  for (const auto& [use, why] : n.certificate_troubles) all.add(why);
  all.add(n.ingest.certificate_troubles);
  all.add(n.ingest.state.trouble);
  for (const sender::report& r : n.sending) {
    if (!r.numbers.trouble.empty())
      all.add(fmt::format("{}: {}", sender::dialect_of(r.by).called, r.numbers.trouble));
  }
  all.add(n.model_servers_troubles);
  all.add(unasked(n));
  if (n.ingest.state.left_out > 0)
    all.add(
        fmt::format("the state file has no room for {} windows and states of nodes, which begin again after "
                    "a restart: use shorter or fewer windows, or raise policy-memory-mib",
                    n.ingest.state.left_out));
  if (n.kubernetes) {
    all.add(n.kubernetes->troubles);
    all.add(labels_warning(*n.kubernetes));
    if (s.label_namespaces.empty()) all.add(kube::writers_warning(n.kubernetes->policy_writers));
    all.add(n.callers_trouble);
  }
  all.add(power_warnings(n.outliers));
  all.add(claim_warnings(n.ingest.contests));
  all.add(session_warnings(n.ingest.repeated_ends, n.nodes.policies()));
  all.add(registration_warnings(n.without_object));
  all.add(score_warnings(n.extender, now));
  all.add(denial_warnings(denials(n), now));
  all.add(id_warnings(n.ingest.ids_given, n.ingest.most_ids));
  all.add(policy::cost_warnings(n.ingest.costs));
  all.add(reading_warnings(n.ingest.readings));
  return std::move(all.out);
}

}  // namespace binnacle::aggregator
