#include "aggregator/ingest/authorise.hpp"

#include "common/text/text.hpp"
#include "common/wire/limits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace binnacle::ingest {

namespace {

/// The names in the certificate that could name a node, for the agent's log.
std::string spoken_for(const tls::identity& who) {
  std::vector<std::string> names = who.dns_names;
  names.insert(names.end(), who.uris.begin(), who.uris.end());
  if (names.empty()) return "no node";
  if (names.size() > 4) names.resize(4);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::optional<wire::fault> authorise(const wire::hello& said, const tls::identity& who,
                                     std::string_view cluster, std::string_view uri_prefix) {
  if (said.cluster != cluster) {
    return wire::fault{
        wire::reason::wrong_cluster,
        fmt::format("this aggregator serves cluster {}, not {}: set the agent's cluster or its aggregators",
                    in_quotes(cluster, wire::max_name), in_quotes(said.cluster, wire::max_name))};
  }
  if (!who.speaks_for(said.node, uri_prefix)) {
    return wire::fault{
        wire::reason::wrong_node,
        fmt::format("the certificate speaks for {}, not for node {}: set --node-name or issue "
                    "a certificate with that name{}",
                    spoken_for(who), said.node,
                    who.uris.empty() ? "" : " (URIs count with the aggregator's agents-uri-prefix)")};
  }
  return std::nullopt;
}

std::optional<wire::fault> authorise(const wire::hello& said, const token_holder& who,
                                     std::string_view account) {
  const auto no = [](wire::reason why, std::string sentence) {
    return wire::fault{why, std::move(sentence)};
  };
  if (!who.genuine) {
    return no(wire::reason::not_authorised,
              fmt::format("the API server does not know the agent's token{}{}{}", who.why.empty() ? "" : " (",
                          who.why, who.why.empty() ? "" : ")"));
  }
  if (who.account != account) {
    return no(
        wire::reason::not_authorised,
        fmt::format("the token is {}'s, and only {} speaks for nodes: set the agent's service account or "
                    "the aggregator's agents-account",
                    who.account, account));
  }
  if (who.node.empty()) {
    return no(wire::reason::wrong_node,
              "the token is bound to no node: give the agent a projected token of its pod (Kubernetes 1.30)");
  }
  if (canonical_node(said.node) != canonical_node(who.node)) {
    return no(wire::reason::wrong_node,
              fmt::format("the token is of a pod on node {}, not on {}: set --node-name to the pod's "
                          "spec.nodeName",
                          who.node, said.node));
  }
  return std::nullopt;
}

std::optional<wire::fault> check_origin(const token_holder& who, const network& from, token_origin allowed) {
  if (allowed == token_origin::anywhere || std::ranges::find(who.addresses, from) != who.addresses.end())
    return std::nullopt;
  if (allowed == token_origin::not_another_pod && who.neighbour.empty()) return std::nullopt;
  if (who.addresses.empty() && !who.pod.empty())
    return wire::fault{wire::reason::unverified,
                       "the API server has not said yet which address the agent's pod has: try again"};
  return wire::fault{
      wire::reason::not_authorised,
      fmt::format("the token came from {}, which is not an address of its pod: set the aggregator's "
                  "token-origin if a proxy stands between them, or find out who has the token there",
                  who.neighbour.empty() ? "an address" : "the address of pod " + who.neighbour)};
}

std::uint32_t reauthenticate_after_s(duration left, double spread) {
  const double seconds =
      std::chrono::duration<double>(left).count() * (0.75 + 0.25 * std::clamp(spread, 0.0, 1.0));
  return static_cast<std::uint32_t>(std::clamp(seconds, 30.0, 86'400.0));
}

std::string canonical_node(std::string_view name) { return lowered(name); }

}  // namespace binnacle::ingest
