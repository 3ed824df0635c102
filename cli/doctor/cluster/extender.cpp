#include "cli/ask.hpp"
#include "cli/client.hpp"
#include "cli/doctor/checks.hpp"
#include "cli/doctor/cluster/configured_extender.hpp"
#include "cli/doctor/cluster/filter_answer.hpp"
#include "cli/doctor/cluster/status_findings.hpp"
#include "cli/doctor/peers.hpp"

#include <fmt/format.h>

#include <utility>

namespace binnacle::cli::doctor {
namespace {

/// Makes one filter call as kube-scheduler does. It is about a pod without a policy, so no node is refused
/// and nothing is counted.
findings call(const configured_extender& v, std::string_view as_whom) {
  findings out = v.remarks;
  std::shared_ptr<SSL_CTX> security;
  if (v.server.secure) {
    tls::options o;
    o.side = tls::role::client;
    o.pem = v.pem;
    o.alpn = "http/1.1";
    auto loaded = tls::context::load(std::move(o));
    if (loaded.has_error()) {
      out.push_back(unchecked(
          fmt::format("{} is not called: {}", v.server.url, loaded.error().message),
          "give files that this user may read: --cert, --key, --ca, or run this where the scheduler runs"));
      return out;
    }
    security = (*loaded)->current();
  } else {
    out.push_back(warning(
        fmt::format("kube-scheduler calls {} without TLS: anybody may answer, and ask", v.server.url),
        "start the aggregator without unsafe, and give the scheduler enableHTTPS: true and a tlsConfig "
        "(binnacle scheduler-config prints both)"));
  }
  http::call filter;
  filter.method = "POST";
  filter.target = v.path;
  filter.headers = {{"Content-Type", "application/json"}};
  filter.body = filter_question(v.by_names);
  const auto asked = std::chrono::steady_clock::now();
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(v.timeout);
  const auto got =
      ask({v.server.at.host, v.server.at.port, v.server_name}, security, std::move(filter), timeout);
  if (got.has_error()) {
    const auto& e = got.error();
    const std::string extender_port = fmt::format("the aggregator's extender port ({})", v.server.at.port);
    out.push_back(failure(fmt::format("{} gives kube-scheduler no answer: {}", v.server.url, e.message),
                          e.code == errc::timeout
                              ? fmt::format("it waits {} (httpTimeout); {}", human(v.timeout),
                                            unreachable_remedy(e.code, extender_port))
                              : unreachable_remedy(e.code, extender_port)));
    return out;
  }
  out.push_back(finding_of_filter_answer(v.server.url + v.path, *got, as_whom,
                                         std::chrono::steady_clock::now() - asked));
  return out;
}

/// The extenders' addresses, as the aggregators give them. If one cannot be asked, the reason goes to `out`.
std::vector<std::string> told_by_aggregators(const place& p, findings& out) {
  std::vector<std::string> urls;
  for (const std::string& given : p.to.aggregators) {
    const auto at = parse_server_url(given);
    if (at.has_error()) continue;  // the check `aggregator` reports that
    const auto c = client::open(*at, p.to);
    const auto status =
        c.has_error() ? result<client::answer>(c.error()) : c->get("/api/v1/status", p.patience);
    const auto url = status.has_error() ? std::nullopt : extender_url(status->json, *at);
    if (url) {
      urls.push_back(*url);
    } else {
      out.push_back(unchecked(fmt::format("{} does not say where its extender listens{}", at->url,
                                          status.has_error() ? ": it gives no status" : ""),
                              "see the check aggregator, or name the address with --extender URL"));
    }
  }
  return urls;
}

}  // namespace

findings check_extender(const place& p) {
  if (!p.scheduler_config.empty()) {
    const auto text = last_bytes(p.scheduler_config, 1u << 20);
    if (text.has_error()) {
      return {failure(fmt::format("the scheduler's configuration {} cannot be read: {}", p.scheduler_config,
                                  text.error().message),
                      "name the KubeSchedulerConfiguration that kube-scheduler is started with")};
    }
    auto view = parse_scheduler_config(*text, p.scheduler_config);
    if (view.has_error())
      return {failure(view.error().message,
                      "binnacle scheduler-config prints one that asks Binnacle; with --patch FILE it adds "
                      "that part to yours")};
    std::string_view as_whom = "with the scheduler's certificate";
    if (!exists(view->pem.certificate) && !p.to.pem.certificate.empty()) {
      view->pem = p.to.pem;  // the files of its configuration are on the scheduler's machine
      as_whom = "with your certificate";
    }
    return call(*view, as_whom);
  }
  if (p.extenders.empty() && p.to.pem.authority.empty()) {
    return {unchecked(
        "what kube-scheduler would get is not known: no address is given",
        "--scheduler-config FILE, or --aggregator URL (or --extender URL) with --ca, --cert and --key")};
  }
  findings out;
  for (const std::string& url : p.extenders.empty() ? told_by_aggregators(p, out) : p.extenders) {
    auto at = parse_server_url(url, 9001);
    if (at.has_error()) {
      out.push_back(failure(at.error().message, "give it as https://HOST:9001"));
      continue;
    }
    configured_extender view;
    view.server = *std::move(at);
    view.path = "/scheduler/filter";
    view.pem = p.to.pem;
    view.by_names = true;
    const auto found = call(view, "with your certificate");
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

}  // namespace binnacle::cli::doctor
