#include "tests/bench/power/prioritizer.hpp"

#include "aggregator/policy/power_terms.hpp"
#include "common/system/process_cost.hpp"
#include "tests/aggregator/extender/go_args.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <stdexcept>

namespace binnacle::bench {
namespace {

double cpu_us() { return std::chrono::duration<double, std::micro>(own_thread_time()).count(); }

}  // namespace

const std::string& prioritizer::policy_for(predict::objective by, double max_load) {
  std::string& name = policies_[{by, max_load}];
  if (!name.empty()) return name;
  name = fmt::format("p{}", policies_.size());
  policy::policy p;
  p.key = {"default", name};
  // The simulation knows each load at once, so no pod is in flight.
  p.damping = policy::herd_damping::disabled;
  policy::strategy s;
  s.kind = policy::strategy_kind::minimizepower;
  s.rules = policy::power_rules();
  s.power.objective = by;
  s.power.max_load = max_load;
  p.strategies.push_back(std::move(s));
  world_.publish(std::move(p));
  return name;
}

std::vector<double> prioritizer::scores(const fleet& nodes, std::span<const std::size_t> candidates,
                                        predict::objective by, wish pod) {
  for (std::size_t i = names_.size(); i < nodes.size(); ++i) {
    names_.push_back(fmt::format("node-{}", i));
    loads_.push_back(-1);
    world_.node(names_.back());
  }
  predict::model_table& models = world_.data.models();
  std::vector<std::string> asked;
  for (const auto i : candidates) {
    const node& n = nodes[i];
    // If a pod takes a share of each node, all nodes have a hundred cores here, with the same watts.
    models.set(static_cast<std::uint32_t>(i), pod.share_of_node ? n.model_of_a_hundred_cores : n.model);
    const double load = n.used / n.truth.cores();
    if (std::exchange(loads_[i], load) != load)
      world_.value(names_[i], std::string(policy::load_metric), {std::llround(1e12 * load), -12});
    asked.push_back(names_[i]);
  }
  const double max_load = nodes.front().believed->cap() / nodes.front().truth.cores();
  std::string text = test::pod_json("web", policy_for(by, max_load));
  const std::string limits = R"("limits":{"telemetry/scheduling":"1"})";
  const double cores = pod.share_of_node ? 100 * pod.cores : pod.cores;
  text.replace(text.find(limits), limits.size(), fmt::format(R"("requests":{{"cpu":"{:.6f}"}})", cores));
  const std::string request = test::names_args(text, asked);
  const double begin = cpu_us();
  const std::string reply = world_.prioritize(request).body;
  took_us_ = cpu_us() - begin;
  const auto answer = boost::json::parse(reply).as_array();
  if (answer.size() != asked.size())
    throw std::runtime_error("prioritize scored other nodes than it was asked");
  std::vector<double> out;
  for (const auto& row : answer) out.push_back(row.at("Score").to_number<double>());
  return out;
}

}  // namespace binnacle::bench
