#include "common/tls/identity.hpp"

#include "common/text.hpp"

#include <algorithm>

namespace binnacle::tls {
namespace {

bool same_name(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lowered(x) == lowered(y); });
}

/// The last path segment of a SPIFFE ID ("spiffe://trust.domain/binnacle/node/n1"), empty for any other URI.
/// Source: SPIFFE-ID specification, section 2 (lower-case scheme, no empty or dot segments, no query or
/// fragment).
std::string_view spiffe_leaf(std::string_view uri) noexcept {
  constexpr std::string_view scheme = "spiffe://";
  if (!uri.starts_with(scheme)) return {};
  const std::string_view rest = uri.substr(scheme.size());
  const auto slash = rest.find('/');
  if (slash == 0 || slash == std::string_view::npos) return {};
  if (rest.find_first_of("?#%") != std::string_view::npos || rest.find("//") != std::string_view::npos)
    return {};
  return rest.substr(rest.rfind('/') + 1);
}

}  // namespace

bool identity::speaks_for(std::string_view node) const noexcept {
  // A certificate for "*" must not speak for a node that calls itself "*".
  if (node.empty() || node.find('*') != std::string_view::npos) return false;
  const auto is_node = [node](const std::string& name) { return same_name(name, node); };
  const auto ends_in_node = [node](const std::string& uri) { return spiffe_leaf(uri) == node; };
  return std::any_of(dns_names.begin(), dns_names.end(), is_node) ||
         std::any_of(uris.begin(), uris.end(), ends_in_node);
}

}  // namespace binnacle::tls
