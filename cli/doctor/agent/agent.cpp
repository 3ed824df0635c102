#include "cli/ask.hpp"
#include "cli/doctor/agent/agent_findings.hpp"
#include "cli/doctor/checks.hpp"
#include "cli/doctor/peers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace binnacle::cli::doctor {
namespace {

using namespace std::chrono_literals;

/// The address of the agent's port on this machine. An empty host means all addresses, so loopback is used.
result<server_url> scrape_address(const agent_settings& s) {
  const std::string scheme = s.listen_cert.empty() ? "http://" : "https://";
  const std::string host = s.listen.starts_with(':') ? "localhost" : "";
  return parse_server_url(scheme + host + s.listen, 9103);
}

result<http::answer> get(const server_url& from, const std::shared_ptr<SSL_CTX>& tls, std::string target,
                         const place& p) {
  http::call what;
  what.target = std::move(target);
  return ask({from.at.host, from.at.port, {}}, tls, std::move(what), p.patience);
}

/// An agent reports its links every five seconds (its setting self-period), and has none just after its
/// start. So the doctor waits a little longer than that for a link.
constexpr auto until_links_are_told = std::chrono::seconds(6);

/// Reads the agent's /metrics. If no link is up, reads them again each second, for as long as a link may
/// take.
result<http::answer> metrics_once_linked(const server_url& from, const std::shared_ptr<SSL_CTX>& tls,
                                         const place& p) {
  const auto wait = std::min<std::chrono::milliseconds>(p.patience + 1s, until_links_are_told);
  const auto until = std::chrono::steady_clock::now() + wait;
  while (true) {
    auto said = get(from, tls, "/metrics", p);
    const bool may_come = said.has_value() && said->status == 200 && !has_a_link(said->body) &&
                          !p.agent->settings.aggregators.empty();
    if (!may_come || std::chrono::steady_clock::now() + 1s > until) return said;
    std::this_thread::sleep_for(1s);
  }
}

}  // namespace

findings check_agent(const place& p) {
  if (p.agent.has_error()) {
    const auto& why = p.agent.error();
    if (why.code == errc::not_found)
      return {
          unchecked(why.message,
                    "on a node: --agent-config FILE, if its settings are not in /etc/binnacle/agent.yaml")};
    return {failure(why.message, "binnacle-agent --print-config says what it makes of its settings")};
  }
  findings out;
  if (p.agent->pid == 0) {
    out.push_back(failure("binnacle-agent is set up here but does not run",
                          "systemctl start binnacle-agent, and see its log"));
    return out;
  }
  const agent_settings& s = p.agent->settings;
  if (s.listen.empty()) {
    out.push_back(unchecked("the agent serves no /metrics, so its health is not known",
                            "set listen, for example to 127.0.0.1:9103"));
    return out;
  }
  const auto at = scrape_address(s);
  if (at.has_error()) return {failure(at.error().message, "listen is the address of /metrics")};
  std::shared_ptr<SSL_CTX> security;
  if (at->secure) {
    // The doctor checks the agent's health here, not its certificate, so it trusts any server.
    tls::options o;
    o.side = tls::role::client;
    o.servers = tls::trust::anybody;
    if (!s.listen_ca.empty()) o.pem = {p.to.pem.certificate, p.to.pem.key, {}};
    const auto loaded = tls::context::load(std::move(o));
    if (loaded.has_error()) return {unchecked(loaded.error().message)};
    security = (*loaded)->current();
  }
  const auto ready = get(*at, security, "/readyz", p);
  if (ready.has_error()) {
    const bool refused = ready.error().code == errc::permission;
    const std::string sentence =
        fmt::format("the agent gives no answer at {}: {}", at->url, ready.error().message);
    return {refused ? unchecked(sentence, "its listen-ca wants another certificate: --cert, --key")
                    : failure(sentence, unreachable_remedy(ready.error().code, "binnacle-agent"))};
  }
  out.push_back(ready->status == 200
                    ? ok(fmt::format("binnacle-agent runs (pid {}) and is ready", p.agent->pid))
                    : warning(fmt::format("binnacle-agent runs (pid {}), but has not read every source once",
                                          p.agent->pid),
                              "wait a period; if that does not help, see its log"));
  if (const auto metrics = metrics_once_linked(*at, security, p);
      metrics.has_value() && metrics->status == 200) {
    const auto more = findings_of_agent_metrics(metrics->body);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

}  // namespace binnacle::cli::doctor
