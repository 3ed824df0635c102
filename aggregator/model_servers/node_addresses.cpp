#include "aggregator/model_servers/node_addresses.hpp"

#include "common/text/json_members.hpp"

#include <boost/json/array.hpp>

namespace binnacle::model_servers {
namespace {

/// No address is longer, and templates may have it many times.
constexpr std::size_t longest_address = 64;

}  // namespace

kube::reflector::settings node_addresses::collection() {
  kube::reflector::settings out;
  out.path = "/api/v1/nodes";
  out.what = "Nodes with their addresses";
  out.page = 50;  // each may have lists of a hundred images
  return out;
}

std::string_view node_addresses::find(std::string_view node) const noexcept {
  const auto at = all_.find(node);
  return at == all_.end() ? std::string_view() : std::string_view(at->second);
}

void node_addresses::changed(const kube::object_key& key, const boost::json::object& object) {
  std::string_view first;
  if (const boost::json::object* status = object_in(object, "status")) {
    for (const auto& one : array_in(*status, "addresses")) {
      const boost::json::object* address = one.if_object();
      if (address == nullptr || text_in(*address, "type") != "InternalIP") continue;
      first = text_in(*address, "address");
      break;
    }
  }
  if (first.empty() || first.size() > longest_address) {
    all_.erase(key.name);
  } else {
    all_.insert_or_assign(key.name, std::string(first));
  }
}

}  // namespace binnacle::model_servers
