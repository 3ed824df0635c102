#pragma once

#include "aggregator/kube/objects/reflector.hpp"
#include "common/error.hpp"
#include "common/tls/chain.hpp"

#include <boost/json/object.hpp>

#include <memory>
#include <string>
#include <vector>

namespace binnacle::callers {

/// The authorities and headers that servers behind the API server's aggregation layer are to trust: the
/// ConfigMap extension-apiserver-authentication in kube-system. Source: kubernetes.io, "Configure the
/// Aggregation Layer".
struct layer {
  std::shared_ptr<const tls::authorities> clients;  ///< sign the users' certificates; null: none do
  std::shared_ptr<const tls::authorities>
      front_proxy;                       ///< sign the front proxy's certificate; null: there are none
  std::vector<std::string> proxy_names;  ///< common names allowed in that certificate; empty: any
  /// Names of the headers in which the front proxy names the user, in lower case.
  std::vector<std::string> user_headers, uid_headers, group_headers, extra_prefixes;
};

/// Reads the ConfigMap; every key may be missing. Errors: invalid_input, naming the key.
result<layer> read_layer(const boost::json::object& config_map);

/// Follows the ConfigMap, whose authorities are replaced from time to time. If a new version cannot be read,
/// the last good one stays in force.
class layer_object final : public kube::watcher {
 public:
  /// The collection to follow: this one ConfigMap.
  static kube::reflector::settings collection();

  /// Null until the ConfigMap has been read.
  const layer* current() const noexcept { return known_ ? &*known_ : nullptr; }
  /// Why the layer is missing or not the newest, in one sentence; empty if it is up to date.
  const std::string& trouble() const noexcept { return trouble_; }

  void changed(const kube::object_key& key, const boost::json::object& object) override;
  void gone(const kube::object_key& key) override;
  void synced() override;

 private:
  std::optional<layer> known_;
  std::string trouble_;
};

}  // namespace binnacle::callers
