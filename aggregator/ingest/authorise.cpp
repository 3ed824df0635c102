#include "aggregator/ingest/authorise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace binnacle::ingest {

namespace {

/// What the certificate could have said, for the agent's log.
std::string spoken_for(const tls::identity& who) {
  std::vector<std::string> names = who.dns_names;
  names.insert(names.end(), who.uris.begin(), who.uris.end());
  if (names.empty()) return "no node";
  if (names.size() > 4) names.resize(4);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::optional<wire::fault> authorise(const wire::hello& said, const tls::identity& who,
                                     std::string_view cluster) {
  if (said.cluster != cluster) {
    return wire::fault{
        wire::reason::wrong_cluster,
        fmt::format(
            "this aggregator serves cluster \"{}\", not \"{}\": set the agent's cluster or its aggregators",
            cluster, said.cluster)};
  }
  if (!who.speaks_for(said.node)) {
    return wire::fault{wire::reason::wrong_node,
                       fmt::format("the certificate speaks for {}, not for node {}: set --node-name or issue "
                                   "a certificate with that name",
                                   spoken_for(who), said.node)};
  }
  return std::nullopt;
}

std::string canonical_node(std::string_view name) {
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

}  // namespace binnacle::ingest
