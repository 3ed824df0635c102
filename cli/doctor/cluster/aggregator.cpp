#include "cli/client.hpp"
#include "cli/doctor/checks.hpp"
#include "cli/doctor/cluster/status_findings.hpp"
#include "cli/json.hpp"
#include "common/http/target.hpp"

#include <fmt/format.h>

namespace binnacle::cli::doctor {
namespace {

findings of_replica(const std::string& url, const place& p) {
  const auto at = parse_server_url(url);
  if (at.has_error()) return {failure(at.error().message, "give it with --aggregator")};
  const auto c = client::open(*at, p.to);
  if (c.has_error())
    return {failure(c.error().message, "--ca, --cert, --key and --token-file name your files")};
  const auto status = c->get("/api/v1/status", p.patience);
  if (status.has_error()) {
    return {failure(status.error().message,
                    "is every replica up, and does the Service reach it? The ops port is 9102 if none was "
                    "set, and wants a client certificate or a token")};
  }
  findings out = findings_of_status(status->json, at->url);
  if (p.agent.has_error()) return out;
  const std::string& named = p.agent->settings.node_name;
  const std::string node = named.empty() ? p.host : named;
  const auto known = c->get("/api/v1/nodes/" + http::query_escaped(node), p.patience);
  if (known.has_error()) {
    out.push_back(failure(fmt::format("{} knows no node {}", at->url, node),
                          "see the check ingest, and the agent's log: it says who refused it and why"));
  } else {
    out.push_back(finding_of_node(known->json, node, at->url));
  }
  return out;
}

}  // namespace

findings check_aggregator(const place& p) {
  if (p.to.aggregators.empty() || p.to.pem.authority.empty()) {
    return {unchecked("no aggregator is asked: there is no CA to verify it with",
                      "--aggregator URL, --ca, --cert and --key, or the settings of `binnacle status`")};
  }
  findings out;
  for (const std::string& url : p.to.aggregators) {
    const auto found = of_replica(url, p);
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

}  // namespace binnacle::cli::doctor
