#include "aggregator/kube/times.hpp"
#include "cli/client.hpp"
#include "cli/doctor/checks.hpp"
#include "cli/doctor/cluster/kube_call.hpp"
#include "cli/doctor/peers.hpp"
#include "cli/json.hpp"
#include "common/http/date.hpp"

#include <chrono>
#include <optional>

namespace binnacle::cli::doctor {
namespace {

using wall = std::chrono::system_clock;

/// Judges an aggregator's clock; nothing if the aggregator does not answer, because the check `aggregator`
/// reports that.
std::optional<finding> of_aggregator(const std::string& url, const place& p) {
  const auto at = parse_server_url(url);
  if (at.has_error()) return std::nullopt;
  const auto c = client::open(*at, p.to);
  if (c.has_error()) return std::nullopt;
  const auto asked = wall::now();
  const auto status = c->get("/api/v1/status", p.patience);
  if (status.has_error()) return std::nullopt;
  const auto theirs = kube::parse_rfc3339(text(status->json, "time"));
  if (!theirs) return std::nullopt;
  return finding_of_clock({at->url, *theirs, asked, wall::now()});
}

std::optional<finding> of_api_server(const place& p) {
  const auto access = kube_access(p);
  if (!access || access->has_error()) return std::nullopt;
  const auto asked = wall::now();
  const auto got = kube_get(**access, "/version", p.patience);
  const auto answered = wall::now();
  const std::string* date = got.has_value() ? got->header("date") : nullptr;
  if (date == nullptr) return std::nullopt;
  const auto theirs = http::parse_date(*date);
  if (!theirs) return std::nullopt;
  return finding_of_clock({"the API server " + (*access)->url(), *theirs, asked, answered});
}

}  // namespace

findings check_clocks(const place& p) {
  findings out;
  if (!p.to.pem.authority.empty()) {
    for (const std::string& url : p.to.aggregators) {
      if (auto found = of_aggregator(url, p)) out.push_back(*std::move(found));
    }
  }
  if (auto found = of_api_server(p)) out.push_back(*std::move(found));
  if (out.empty())
    out.push_back(unchecked("no other clock could be asked", "give --aggregator or --kube-config"));
  return out;
}

}  // namespace binnacle::cli::doctor
