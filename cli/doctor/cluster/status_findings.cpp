#include "cli/doctor/cluster/status_findings.hpp"

#include "cli/views/policies.hpp"
#include "cli/views/units.hpp"
#include "common/text/endpoint.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <string_view>

namespace binnacle::cli::doctor {
namespace {

/// "0.1" of "0.1.3". Programs whose minor versions differ by one work together (common/wire/README.md).
std::string_view minor_of(std::string_view version) {
  const auto first = version.find('.');
  return version.substr(0, version.find('.', first == version.npos ? 0 : first + 1));
}

}  // namespace

findings findings_of_status(const json::value& status, const std::string& url) {
  const json::value nodes = object(status, "nodes"), policies = object(status, "policies");
  const auto known = integer(nodes, "known"), connected = integer(nodes, "connected");
  const std::string version = text(status, "version");
  findings out;
  out.push_back(ok(fmt::format("replica {} at {} answers, version {}, {} of {} connected",
                               text(status, "replica"), url, version, connected, counted(known, "node"))));
  if (minor_of(version) != minor_of(BINNACLE_VERSION)) {
    out.push_back(
        warning(fmt::format("the aggregator is of version {}, this command of {}", version, BINNACLE_VERSION),
                "use the command of the same release"));
  }
  if (known == 0) {
    out.push_back(
        warning(fmt::format("{} has met no agent yet", url), "run `binnacle doctor` on a node that has one"));
  } else if (connected < known) {
    out.push_back(warning(
        fmt::format("{} of {} known to {} are not connected", known - connected, counted(known, "node"), url),
        "binnacle top shows which; forget-after says how long they are kept"));
  }
  if (const auto problems = integer(policies, "problems"); problems > 0)
    out.push_back(warning(fmt::format("{} in policies", counted(problems, "error")),
                          "binnacle policy list says where"));
  for (const auto& c : list(policies, "conditions"))
    out.push_back(
        warning("policy " + condition_words(c), "binnacle policy list shows every policy's conditions"));
  if (const auto sick = integer(object(status, "sourceProblems"), "count"); sick > 0) {
    out.push_back(warning(fmt::format("{} of nodes cannot be read", counted(sick, "source")),
                          "binnacle status names the first; run `binnacle doctor` on that node"));
  }
  for (const auto& w : list(status, "warnings")) out.push_back(warning(text(w), "see the aggregator's log"));
  return out;
}

std::optional<std::string> extender_url(const json::value& status, const server_url& ops) {
  for (const auto& l : list(status, "listeners")) {
    if (text(l, "name") != "extender") continue;
    // An address of the status names a host of the aggregator's own machine or container; without a host the
    // extender listens on all addresses.
    const auto at = read_listen_address(text(l, "address"));
    if (!at || at->port == 0) return std::nullopt;
    const bool plain = member(l, "tls") != nullptr && !flag(l, "tls");  // older ones do not say
    return fmt::format("{}://{}", plain ? "http" : "https", host_and_port(ops.at.host, at->port));
  }
  return std::nullopt;
}

finding finding_of_node(const json::value& node, const std::string& name, const std::string& url) {
  if (flag(node, "connected")) {
    return ok(fmt::format("{} hears node {}, the last time {} ago", url, name, age(integer(node, "seenMs"))));
  }
  return failure(fmt::format("{} has lost node {}, {} ago", url, name, age(integer(node, "seenMs"))),
                 "see the check ingest, and the agent's log");
}

}  // namespace binnacle::cli::doctor
