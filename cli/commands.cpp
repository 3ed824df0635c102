#include "cli/commands.hpp"

#include "cli/json.hpp"
#include "cli/views/policies.hpp"
#include "cli/views/power.hpp"
#include "cli/views/status.hpp"
#include "cli/views/units.hpp"
#include "cli/views/what_if.hpp"
#include "cli/views/why.hpp"
#include "common/http/target.hpp"
#include "common/text/pod_cpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ostream>
#include <set>

namespace binnacle::cli {
namespace {

/// The replica's client. If there is an error, prints it on `on.err`.
std::optional<client> opened(const std::string& url, const connection& to, const terminal& on) {
  auto peer = parse_server_url(url);
  if (peer.has_value()) {
    if (const auto pod = to.pods.find(url); pod != to.pods.end()) peer->url = pod->second;
    auto c = client::open(*peer, to);
    if (c.has_value()) return std::move(*c);
    on.err << "binnacle: " << c.error().message << '\n';
  } else {
    on.err << "binnacle: " << peer.error().message << '\n';
  }
  return std::nullopt;
}

struct told {
  std::string url;
  client::answer said;
};

/// The answer of every replica. A replica that gives no answer is left out, with a message on `on.err`.
std::vector<told> ask_all(const connection& to, const std::string& target, const terminal& on) {
  std::vector<told> answers;
  for (const std::string& url : to.aggregators) {
    const auto c = opened(url, to, on);
    if (!c) continue;
    auto a = c->get(target);
    if (a.has_error()) {
      on.err << "binnacle: " << a.error().message << '\n';
    } else {
      answers.push_back({c->url(), std::move(*a)});
    }
  }
  return answers;
}

/// The first answer, for questions that every replica answers alike. For each replica that gave no answer
/// before it, a message goes to `on.err`.
std::optional<client::answer> ask_first(const connection& to, const std::string& target, const terminal& on) {
  for (const std::string& url : to.aggregators) {
    const auto c = opened(url, to, on);
    if (!c) continue;
    auto a = c->get(target);
    if (a.has_value()) return std::move(*a);
    on.err << "binnacle: " << a.error().message << '\n';
  }
  return std::nullopt;
}

void print_lines(const terminal& on, std::string text) {
  if (!text.ends_with('\n')) text += '\n';
  on.out << text;
}

/// If one replica was asked, prints its JSON as it came. If several were asked, prints a list that names the
/// replica of each answer, even if only one of them answered.
void print_json(const connection& to, const terminal& on, const std::vector<told>& answers,
                const char* what) {
  if (to.aggregators.size() == 1) return print_lines(on, answers.front().said.text);
  json::array all;
  for (const told& t : answers) all.push_back(json::object{{"aggregator", t.url}, {what, t.said.json}});
  print_lines(on, to_text(json::object{{"aggregators", all}}));
}

/// Prints why the policies of these decisions do not do all that their objects say, from the first replica
/// that answers. A policy that is not in force refuses nobody, and the decision alone does not say why.
void print_conditions(const connection& to, const std::vector<told_decision>& decisions, const terminal& on) {
  std::set<std::string> policies;
  for (const told_decision& d : decisions) {
    const std::string name = text(d.record, "wantedPolicy");
    if (!name.empty()) policies.insert(text(object(d.record, "pod"), "namespace") + "/" + name);
  }
  for (const std::string& url : to.aggregators) {
    const auto c = policies.empty() ? std::nullopt : opened(url, to, on);
    if (!c) continue;
    const auto a = c->get("/api/v1/policies");
    if (a.has_error()) continue;
    for (const auto& condition : list(a->json, "conditions")) {
      if (policies.contains(text(condition, "policy")))
        on.out << "\npolicy " << on.with(colour::yellow, condition_words(condition)) << '\n';
    }
    return;
  }
}

/// Why there is no decision to show, and the remedy. A filter may have left out those that are kept.
std::string no_decision(const std::string& pod, const why_arguments& what) {
  const bool by_policy = !what.policy.empty(), by_node = !what.node.empty();
  const std::string none = fmt::format("no decision{} about a pod matching '{}'{} is kept: ",
                                       by_policy ? fmt::format(" of the policy '{}'", what.policy) : "", pod,
                                       by_node ? fmt::format(" and the node '{}'", what.node) : "");
  if (by_policy || by_node)
    return fmt::format("{}ask without {}, to see all that are kept about the pod", none,
                       !by_node     ? "--policy"
                       : !by_policy ? "--node"
                                    : "--policy and --node");
  return none +
         "kube-scheduler has not asked about it yet, or asked too long ago. It asks only about pods with the "
         "limit telemetry/scheduling in a container (resources: {limits: {telemetry/scheduling: \"0\"}})";
}

int outcome(const connection& to, const std::vector<told>& answers) {
  return answers.size() == to.aggregators.size() ? exit_ok : exit_problem;
}

}  // namespace

int status_command(const connection& to, const status_arguments& what, const terminal& on) {
  const auto answers = ask_all(to, "/api/v1/status", on);
  if (on.json && !answers.empty()) {
    print_json(to, on, answers, "status");
  } else {
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (i > 0) on.out << '\n';
      on.out << render_status(answers[i].said.json, answers[i].url, on.with);
    }
  }
  std::int64_t most = 0;
  for (const told& t : answers) most = std::max(most, integer(object(t.said.json, "nodes"), "connected"));
  if (!answers.empty() && most < what.nodes) {
    on.err << fmt::format("binnacle: {} connected, {} are expected: see `binnacle doctor` on a node\n",
                          most == 1 ? "1 node is" : fmt::format("{} nodes are", most), what.nodes);
    return exit_problem;
  }
  return outcome(to, answers);
}

int policy_list_command(const connection& to, const terminal& on) {
  // Every replica has the same policies.
  const auto a = ask_first(to, "/api/v1/policies", on);
  if (!a) return exit_problem;
  print_lines(on, on.json ? a->text : render_policies(a->json, on.with));
  return has_errors(a->json) ? exit_problem : exit_ok;
}

int power_command(const connection& to, const std::string& node, const terminal& on) {
  // Every replica hears all agents and learns the same.
  const auto a = ask_first(to, "/api/v1/power/" + http::query_escaped(node), on);
  if (!a) return exit_problem;
  print_lines(on, on.json ? a->text : render_power(a->json, on.with));
  return object(a->json, "model").empty() ? exit_problem : exit_ok;
}

int what_if_command(const connection& to, const what_if_arguments& what, const terminal& on) {
  // The aggregator refuses the same. Asked here, because it is wrong usage and no answer.
  if (!read_pod_cpu(what.cpu)) {
    on.err << fmt::format("binnacle: --cpu: write {}\n", form_of_pod_cpu());
    return exit_usage;
  }
  std::string target =
      fmt::format("/api/v1/what-if?pods={}&cpu={}", what.pods, http::query_escaped(what.cpu));
  if (!what.policy.empty()) target += "&policy=" + http::query_escaped(what.policy);
  const auto a = ask_first(to, target, on);
  if (!a) return exit_problem;
  print_lines(on, on.json ? a->text : render_what_if(a->json, on.with));
  return integer(a->json, "placed") == what.pods ? exit_ok : exit_problem;
}

std::string pod_pattern(const std::string& pod, const std::string& name_space) {
  std::string name = pod;
  for (const char* kind : {"pod/", "pods/", "po/"}) {
    if (name.starts_with(kind)) {
      name.erase(0, std::string_view(kind).size());
      break;
    }
  }
  const bool complete = name.find('/') != std::string::npos;
  return name_space.empty() || complete ? name : name_space + "/" + name;
}

int why_command(const connection& to, const why_arguments& what, const terminal& on) {
  const std::string pod = pod_pattern(what.pod, what.name_space);
  if (pod.empty()) {
    on.err << "binnacle: the pod's name is empty: give a name, a part of it, or a UID\n";
    return exit_usage;
  }
  std::string target = fmt::format("/api/v1/decisions?pod={}&limit={}", http::query_escaped(pod), what.limit);
  if (!what.node.empty()) target += "&node=" + http::query_escaped(what.node);
  if (!what.policy.empty()) target += "&policy=" + http::query_escaped(what.policy);
  if (what.all_nodes) target += "&all=true";
  const auto answers = ask_all(to, target, on);
  if (answers.empty()) return exit_problem;

  std::vector<told_decision> decisions;
  for (const told& t : answers) {
    for (const auto& record : list(t.said.json, "decisions")) decisions.push_back({record, t.url});
    if (const std::int64_t omitted = integer(t.said.json, "omitted"); omitted > 0)
      on.err << fmt::format(
          "binnacle: {}: {} had no room in the answer: ask with a smaller --limit, or about one --node\n",
          t.url, counted(omitted, "older decision"));
  }
  decisions = newest_first(std::move(decisions), what.all);
  if (on.json) {
    json::array all;
    for (const auto& d : decisions) {
      json::value record = d.record;
      if (auto* o = record.if_object()) o->emplace("aggregator", d.url);
      all.push_back(std::move(record));
    }
    print_lines(on, to_text(json::object{{"decisions", all}}));
    return decisions.empty() ? exit_problem : outcome(to, answers);
  }
  if (decisions.empty()) {
    on.err << "binnacle: " << no_decision(pod, what) << '\n';
    return exit_problem;
  }
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    if (i > 0) on.out << '\n';
    on.out << render_decision(decisions[i], now_ms, on.with);
  }
  print_conditions(to, decisions, on);
  return outcome(to, answers);  // no answer is a problem: the silent replica may have the newest decision
}

}  // namespace binnacle::cli
