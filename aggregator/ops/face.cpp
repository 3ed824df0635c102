#include "aggregator/ops/face.hpp"

#include "aggregator/ops/lists.hpp"
#include "aggregator/ops/node_json.hpp"
#include "aggregator/ops/power_json.hpp"
#include "aggregator/ops/summary_json.hpp"
#include "aggregator/ops/what_if.hpp"
#include "common/metrics/family_of.hpp"
#include "common/text/json_writer.hpp"
#include "common/text/pod_cpu.hpp"
#include "common/text/read_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace binnacle::ops {
namespace {

constexpr std::size_t most_names = 100;        // of nodes, per strategy
constexpr std::size_t most_metrics = 16;       // columns of one answer
constexpr std::size_t most_families = 256;     // that one question may name
constexpr std::size_t most_decisions = 1'000;  // in one answer
constexpr std::size_t most_pods = 10'000;      // of one question

http::response bad_parameter(std::string_view name, std::string_view form) {
  return http::response::failure(400, fmt::format("the parameter {} must be {}", name, form));
}

std::string text_parameter(const http::request& r, std::string_view name) {
  const std::string* text = r.parameter(name);
  return text == nullptr ? std::string() : *text;
}

/// The number in a parameter, or `fallback` if the parameter is missing. Nothing if it is not a number in
/// [least, most].
std::optional<std::uint64_t> number_parameter(const http::request& r, std::string_view name,
                                              std::uint64_t fallback, std::uint64_t least,
                                              std::uint64_t most) {
  const std::string* text = r.parameter(name);
  if (text == nullptr) return fallback;
  const auto n = read_number<std::uint64_t>(*text);
  return n && *n >= least && *n <= most ? n : std::nullopt;
}

/// Refuses a request with a parameter that the page does not know: without this, a misspelt filter would
/// return everything.
std::optional<http::response> unknown_parameter(const http::request& r,
                                                std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : r.query) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return http::response::failure(
        400, fmt::format("there is no parameter {}, only {}", name, fmt::join(known, ", ")));
  }
  return std::nullopt;
}

/// The different values of a parameter. Nothing if there are more than `most`.
std::optional<std::vector<std::string>> every_parameter(const http::request& r, std::string_view name,
                                                        std::size_t most) {
  std::vector<std::string> all;
  for (const auto& [key, value] : r.query) {
    if (key != name || std::find(all.begin(), all.end(), value) != all.end()) continue;
    if (all.size() == most) return std::nullopt;
    all.push_back(value);
  }
  return all;
}

http::response too_often(std::string_view name, std::size_t most) {
  return bad_parameter(name, fmt::format("given at most {} times", most));
}

bool some_node_has(const store::view& nodes, std::string_view family) {
  return std::any_of(nodes.nodes().begin(), nodes.nodes().end(), [&](const auto& n) {
    return n.second->cells != nullptr && !n.second->cells->series().of_family(family).empty();
  });
}

const char* no_identity =
    "present a client certificate signed by the authority that this server trusts for clients";

}  // namespace

face::face(const policy::view& nodes, const decision::ring& decisions, face_sources sources)
    : nodes_(nodes), decisions_(decisions), sources_(std::move(sources)) {}

std::optional<http::response> face::refusal(const http::request& r) const {
  if (!sources_.identity_required || r.peer) return std::nullopt;
  return http::response::failure(401, no_identity);
}

http::simple_handler face::guarded(handler h) {
  return [this, h](const http::request& r, std::string_view) {
    auto refused = refusal(r);
    return refused ? std::move(*refused) : (this->*h)(r);
  };
}

void face::sliced_page(http::router& routes, const std::string& path, slicer make,
                       const http::slices_running& running) {
  const auto factory = [this, make, &running](const http::request& r) {
    std::unique_ptr<http::slices> work;
    if (auto refused = refusal(r)) {
      work = http::ready(std::move(*refused));
    } else if (running.full(r.caller)) {
      work = http::ready(http::slices_running::refusal(http::response::failure));
    } else {
      work = running.count(r.caller, (this->*make)(r));
    }
    return http::run_sliced(std::move(work), sources_.later);
  };
  routes.add_streaming("GET", path, factory, 0);
}

http::exchange_factory face::node_page() {
  return [this](const http::request& r) {
    auto refused = refusal(r);
    if (!refused) refused = no_node(r, "nodes");
    auto work = refused ? http::ready(std::move(*refused))
                        : one_nodes_.wait(r.caller, [this, r] { return one_node(r); });
    return http::run_sliced(std::move(work), sources_.later);
  };
}

void face::mount(http::router& routes) {
  sliced_page(routes, "/api/v1/status", &face::status, briefs_);
  sliced_page(routes, "/metrics", &face::own_metrics, briefs_);
  sliced_page(routes, "/api/v1/labels", &face::labels, lists_);
  sliced_page(routes, "/api/v1/policies", &face::policies, lists_);
  sliced_page(routes, "/api/v1/nodes", &face::node_list, lists_);
  sliced_page(routes, "/api/v1/nodelabels", &face::node_labels, lists_);
  sliced_page(routes, "/api/v1/decisions", &face::decisions, lists_);
  sliced_page(routes, "/api/v1/what-if", &face::what_if, lists_);
  sliced_page(routes, "/metrics/nodes", &face::node_metrics, lists_);
  routes.add_streaming_prefix("/api/v1/nodes", node_page(), 0);
  routes.add_prefix("/api/v1/power", guarded(&face::power));
  http::mount_health(routes, sources_.health);
}

std::string face::time_of(instant t) const { return rfc3339(sources_.wall(t)); }

std::unique_ptr<http::slices> face::status(const http::request&) {
  const instant now = sources_.now();
  const decision_totals totals{decisions_.size(), decisions_.total(), decisions_.dropped()};
  return status_json(nodes_, sources_.self(), sources_.about_policies(), totals, now, time_of(now));
}

std::unique_ptr<http::slices> face::policies(const http::request&) {
  return policy_list(nodes_, sources_.about_policies(), most_names);
}

std::unique_ptr<http::slices> face::labels(const http::request&) { return labels_json(nodes_); }

std::unique_ptr<http::slices> face::own_metrics(const http::request&) {
  return own_exposition(sources_.own_metrics(), nodes_, sources_.strategies());
}

std::unique_ptr<http::slices> face::decisions(const http::request& r) {
  if (auto no = unknown_parameter(r, {"pod", "policy", "node", "verb", "id", "limit", "all"}))
    return http::ready(std::move(*no));
  decision::query q;
  q.pod = text_parameter(r, "pod");
  q.policy = text_parameter(r, "policy");
  q.node = text_parameter(r, "node");
  q.verb = text_parameter(r, "verb");
  const auto id = number_parameter(r, "id", 0, 0, UINT64_MAX);
  if (!id) return http::ready(bad_parameter("id", "a whole number"));
  q.id = *id;
  const auto limit = number_parameter(r, "limit", q.limit, 1, most_decisions);
  if (!limit)
    return http::ready(bad_parameter("limit", fmt::format("a whole number from 1 to {}", most_decisions)));
  q.limit = *limit;
  const auto is_it = [&q](decision::verb v) { return q.verb == decision::to_string(v); };
  if (!q.verb.empty() && std::ranges::none_of(decision::all_verbs, is_it))
    return http::ready(bad_parameter("verb", "filter, prioritize or preempt"));
  decision::explain_options how;
  how.node = q.node;
  const std::string all = text_parameter(r, "all");
  if (!all.empty() && all != "true" && all != "false")
    return http::ready(bad_parameter("all", "true or false"));
  how.all = all == "true";
  return decision_list(decisions_, q, std::move(how));
}

std::optional<http::response> face::no_node(const http::request& r, std::string_view list) const {
  if (r.method != "GET") return http::response::failure(405, "only GET is served here");
  if (r.path.size() != 4 || r.path[3].empty()) {
    return http::response::failure(
        404, fmt::format("there is nothing at this path: a node is /api/v1/{}/NAME", list));
  }
  if (nodes_.find(r.path[3]) == nullptr)
    return http::response::failure(404, fmt::format("no agent named '{}' has connected", r.path[3]));
  return std::nullopt;
}

std::unique_ptr<http::slices> face::one_node(const http::request& r) {
  if (auto no = no_node(r, "nodes")) return http::ready(std::move(*no));
  return node_in_full(*nodes_.find(r.path[3]), nodes_.policies(), sources_.now(), sources_.object_labels);
}

http::response face::power(const http::request& r) {
  if (auto no = no_node(r, "power")) return std::move(*no);
  std::string text;
  json_writer out(text);
  write_power(out, *nodes_.find(r.path[3]), nodes_, sources_.now());
  return http::response::json(text += '\n');
}

std::vector<std::string> face::default_metrics() const {
  std::vector<std::string> names;
  const auto first_of = [&](std::initializer_list<const char*> families) {
    for (const char* family : families) {
      if (!some_node_has(nodes_, family)) continue;
      names.emplace_back(family);
      return;
    }
  };
  first_of({"host_power_watts", "rapl_power_watts", "bmc_power_watts"});
  first_of({"host_inlet_temperature_celsius", "bmc_temperature_celsius"});
  first_of({"os_cpu_utilization_ratio"});
  for (const auto& [key, policy] : nodes_.policies()) {
    for (const auto& strategy : policy->strategies) {
      for (const auto& rule : strategy.rules) {
        if (names.size() == most_metrics / 2) return names;
        const bool known = std::find(names.begin(), names.end(), rule.definition.metric) != names.end();
        if (!known) names.push_back(rule.definition.metric);
      }
    }
  }
  return names;
}

std::unique_ptr<http::slices> face::node_list(const http::request& r) {
  if (auto no = unknown_parameter(r, {"limit", "metric"})) return http::ready(std::move(*no));
  fleet_query q;
  const auto limit = number_parameter(r, "limit", q.limit, 1, q.limit);
  if (!limit) return http::ready(bad_parameter("limit", fmt::format("a whole number from 1 to {}", q.limit)));
  q.limit = *limit;
  q.now = sources_.now();
  q.time = time_of(q.now);
  std::vector<std::string> names = default_metrics();
  auto extras = every_parameter(r, "metric", most_metrics);
  if (!extras) return http::ready(too_often("metric", most_metrics));
  std::size_t room = most_metrics - extras->size();  // for metrics that were not asked for
  std::erase_if(names, [&](const std::string& name) {
    if (std::find(extras->begin(), extras->end(), name) != extras->end()) return false;
    if (room == 0) return true;
    --room;
    return false;
  });
  for (std::string& extra : *extras) {
    if (extra.empty()) return http::ready(bad_parameter("metric", "the name of a metric"));
    if (std::find(names.begin(), names.end(), extra) == names.end()) names.push_back(std::move(extra));
  }
  for (const std::string& name : names)
    q.metrics.push_back({name, sources_.ask(name, {}), metrics::family_of(name) == nullptr});
  return fleet_json(nodes_, std::move(q));
}

std::unique_ptr<http::slices> face::what_if(const http::request& r) {
  if (auto no = unknown_parameter(r, {"pods", "cpu", "policy"})) return http::ready(std::move(*no));
  imagined_pods q;
  const auto pods = number_parameter(r, "pods", 0, 1, most_pods);
  if (!pods || *pods == 0)
    return http::ready(bad_parameter("pods", fmt::format("a whole number from 1 to {}", most_pods)));
  q.pods = *pods;
  const auto cpu = read_pod_cpu(text_parameter(r, "cpu"));
  if (!cpu) return http::ready(bad_parameter("cpu", form_of_pod_cpu()));
  q.cpu = *cpu;
  auto policy = policy_by_watts(nodes_.policies(), text_parameter(r, "policy"));
  if (policy.has_error()) {
    const unsigned status = policy.error().code == errc::not_found ? 404 : 400;
    return http::ready(http::response::failure(status, policy.error().message));
  }
  q.policy = std::move(*policy);
  q.now = sources_.now();
  q.time = time_of(q.now);
  return what_if_json(nodes_, std::move(q), sources_.in_flight);
}

std::unique_ptr<http::slices> face::node_labels(const http::request& r) {
  if (auto no = unknown_parameter(r, {"key"})) return http::ready(std::move(*no));
  std::string key = text_parameter(r, "key");
  return key.empty() ? label_keys(nodes_, sources_.object_labels)
                     : label_values(nodes_, sources_.object_labels, std::move(key));
}

std::unique_ptr<http::slices> face::node_metrics(const http::request& r) {
  if (auto no = unknown_parameter(r, {"family"})) return http::ready(std::move(*no));
  auto families = every_parameter(r, "family", most_families);
  if (!families) return http::ready(too_often("family", most_families));
  return fleet_exposition(nodes_, std::move(*families), sources_.now());
}

}  // namespace binnacle::ops
