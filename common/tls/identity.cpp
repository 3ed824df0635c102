#include "common/tls/identity.hpp"

#include "common/text/text.hpp"

#include <algorithm>

namespace binnacle::tls {
namespace {

bool same_name(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lowered(x) == lowered(y); });
}

bool is_joined(std::string_view whole, std::string_view first, std::string_view second) noexcept {
  return whole.starts_with(first) && whole.substr(first.size()) == second;
}

}  // namespace

bool identity::speaks_for(std::string_view node, std::string_view uri_prefix) const noexcept {
  // A certificate for "*" must not speak for a node that calls itself "*". And no node has a '/' in its name,
  // so a URI cannot match with several segments.
  if (node.empty() || node.find_first_of("*/") != std::string_view::npos) return false;
  const auto is_node = [node](const std::string& name) { return same_name(name, node); };
  const auto names_node = [&](const std::string& uri) { return is_joined(uri, uri_prefix, node); };
  return std::any_of(dns_names.begin(), dns_names.end(), is_node) ||
         (!uri_prefix.empty() && std::any_of(uris.begin(), uris.end(), names_node));
}

}  // namespace binnacle::tls
