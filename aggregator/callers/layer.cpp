#include "aggregator/callers/layer.hpp"

#include "common/http/message.hpp"
#include "common/text/json_members.hpp"
#include "common/text/text.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>

namespace binnacle::callers {
namespace {

namespace json = boost::json;

constexpr std::string_view missing =
    "kube-system has no ConfigMap extension-apiserver-authentication: only tokens and certificates of "
    "clients-ca are taken; give kube-apiserver its --requestheader-client-ca-file";

error broken(std::string_view key, std::string_view why) {
  return {errc::invalid_input,
          fmt::format("ConfigMap kube-system/extension-apiserver-authentication: {}: {}", key, why)};
}

result<std::shared_ptr<const tls::authorities>> authorities_in(const json::object& data,
                                                               std::string_view key) {
  const std::string_view pem = text_in(data, key);
  if (pem.empty()) return std::shared_ptr<const tls::authorities>();
  auto read = tls::authorities::read(std::string(pem), key);
  if (read.has_error()) return broken(key, read.error().message);
  return read;
}

/// Reads the member `key`, a string that holds a JSON list of strings.
result<std::vector<std::string>> list_in(const json::object& data, std::string_view key) {
  std::vector<std::string> out;
  const std::string_view text = text_in(data, key);
  if (text.empty()) return out;
  boost::system::error_code ec;
  const json::value list = json::parse({text.data(), text.size()}, ec);
  if (ec || !list.is_array()) return broken(key, "this is not a JSON list");
  for (const json::value& item : list.get_array()) {
    if (!item.is_string()) return broken(key, "the list holds something other than strings");
    out.emplace_back(item.get_string());
  }
  return out;
}

}  // namespace

result<layer> read_layer(const json::object& config_map) {
  layer out;
  const json::object* found = object_in(config_map, "data");
  const json::object data = found == nullptr ? json::object() : *found;
  auto clients = authorities_in(data, "client-ca-file");
  if (clients.has_error()) return clients.error();
  auto front_proxy = authorities_in(data, "requestheader-client-ca-file");
  if (front_proxy.has_error()) return front_proxy.error();
  out.clients = std::move(*clients);
  out.front_proxy = std::move(*front_proxy);
  struct wanted {
    const char* key;
    std::vector<std::string>& to;
  };
  for (const wanted& w : {wanted{"requestheader-allowed-names", out.proxy_names},
                          {"requestheader-username-headers", out.user_headers},
                          {"requestheader-uid-headers", out.uid_headers},
                          {"requestheader-group-headers", out.group_headers},
                          {"requestheader-extra-headers-prefix", out.extra_prefixes}}) {
    auto list = list_in(data, w.key);
    if (list.has_error()) return list.error();
    w.to = std::move(*list);
    if (&w.to == &out.proxy_names) continue;
    for (std::string& name : w.to) name = lowered(name);
  }
  return out;
}

kube::reflector::settings layer_object::collection() {
  kube::reflector::settings out;
  out.path = "/api/v1/namespaces/kube-system/configmaps";
  out.field_selector = "metadata.name=extension-apiserver-authentication";
  out.what = "the ConfigMap extension-apiserver-authentication";
  out.if_unknown = "bind the Role extension-apiserver-authentication-reader of kube-system";
  return out;
}

void layer_object::changed(const kube::object_key&, const json::object& object) {
  auto read = read_layer(object);
  if (read.has_error()) {
    trouble_ = read.error().message + (known_ ? "; what was read before stays in force" : "");
    return;
  }
  known_ = std::move(*read);
  trouble_.clear();
}

// The last version stays in force: deleting the ConfigMap must not lock everybody out.
void layer_object::gone(const kube::object_key&) { trouble_ = missing; }

void layer_object::synced() {
  if (!known_ && trouble_.empty()) trouble_ = missing;
}

}  // namespace binnacle::callers
