#include "cli/dashboard/topic.hpp"

#include "cli/upstream.hpp"
#include "common/http/target.hpp"

#include <fmt/format.h>

namespace binnacle::cli::dashboard {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_letters = 512;  // of the name in a topic: names in Kubernetes have 253 at most

/// `text` as one segment of a path.
std::string segment(std::string_view text) {
  std::string out = http::query_escaped(text);
  for (auto at = out.find('/'); at != std::string::npos; at = out.find('/', at + 3))
    out.replace(at, 1, "%2F");
  return out;
}

}  // namespace

result<topic> parse_topic(std::string_view text) {
  for (const subject what :
       {subject::fleet, subject::status, subject::policies, subject::links, subject::doctor}) {
    if (text == name_of(what)) return topic{what};
  }
  for (const subject what : {subject::node, subject::pods, subject::decisions, subject::labels}) {
    const std::string_view name = name_of(what);
    if (!text.starts_with(name) || text.size() <= name.size() || text[name.size()] != '/') continue;
    topic t{what, std::string(text.substr(name.size() + 1))};
    if ((what == subject::node || what == subject::pods) && t.about.empty()) break;
    if (t.about.size() > most_letters) break;
    return t;
  }
  return error{errc::invalid_input,
               "a topic is fleet, status, policies, links, doctor, node/NAME, pods/NODE, decisions/, "
               "decisions/POD, labels/ or labels/KEY"};
}

std::string_view name_of(subject what) {
  switch (what) {
    case subject::fleet: return "fleet";
    case subject::status: return "status";
    case subject::policies: return "policies";
    case subject::links: return "links";
    case subject::doctor: return "doctor";
    case subject::node: return "node";
    case subject::pods: return "pods";
    case subject::decisions: return "decisions";
    case subject::labels: return "labels";
  }
  return "";
}

std::string target_of(const topic& t, const std::vector<std::string>& metrics) {
  switch (t.what) {
    case subject::fleet:
    case subject::links: return nodes_target(metrics);
    case subject::status: return "/api/v1/status";
    case subject::policies: return "/api/v1/policies";
    case subject::node: return "/api/v1/nodes/" + segment(t.about);
    case subject::decisions:
      return t.about.empty() ? "/api/v1/decisions?limit=40"
                             : "/api/v1/decisions?limit=40&pod=" + http::query_escaped(t.about);
    case subject::labels: return labels_target(t.about);
    case subject::pods:
    case subject::doctor: break;
  }
  return "/";
}

bool is_each_replicas(subject what) {
  return what == subject::status || what == subject::links || what == subject::decisions;
}

std::chrono::milliseconds pause_of(subject what, std::size_t nodes) {
  switch (what) {
    case subject::fleet: return upstream::pause_between_lists(nodes);
    case subject::status:
    case subject::policies: return 2s;  // a walk over all nodes, but a cheap one: 0.7 ms for 5,000 nodes
    case subject::node:
    case subject::decisions: return 1s;
    case subject::links:               // a list of all nodes, from each replica
    case subject::pods:                // one question to the API server
    case subject::labels: return 20s;  // racks and zones seldom change
    case subject::doctor: return 60s;  // some twenty questions to the API server
  }
  return 1s;
}

}  // namespace binnacle::cli::dashboard
