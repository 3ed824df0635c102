#pragma once

#include "aggregator/kube/objects/reflector.hpp"
#include "common/error.hpp"
#include "common/tls/chain.hpp"

#include <boost/json/object.hpp>

#include <memory>
#include <string>
#include <vector>

namespace binnacle::callers {

/// Whom an API server tells the servers behind its aggregation layer to believe: the ConfigMap
/// extension-apiserver-authentication of kube-system. Source: kubernetes.io, "Configure the Aggregation
/// Layer".
struct layer {
  std::shared_ptr<const tls::authorities> clients;  ///< sign the cluster's users; null: no authority does
  std::shared_ptr<const tls::authorities>
      front_proxy;                       ///< sign the API server's own certificate; null: no authority does
  std::vector<std::string> proxy_names;  ///< common names that it may have; empty: any
  /// Names of the headers in which it says who asks, lower-cased.
  std::vector<std::string> user_headers, uid_headers, group_headers, extra_prefixes;
};

/// Reads the ConfigMap; every key may be missing. Errors: invalid_input, naming the key.
result<layer> read_layer(const boost::json::object& config_map);

/// Keeps the layer as the API server has it: its authorities are replaced from time to time. A version that
/// cannot be read leaves the last good one in force.
class layer_object final : public kube::watcher {
 public:
  /// What to follow: this one ConfigMap.
  static kube::reflector::settings collection();

  /// Null until it was read.
  const layer* current() const noexcept { return known_ ? &*known_ : nullptr; }
  /// Why there is none, or not the newest, in one sentence; empty when there is.
  const std::string& trouble() const noexcept { return trouble_; }

  void changed(const kube::object_key& key, const boost::json::object& object) override;
  void gone(const kube::object_key& key) override;
  void synced() override;

 private:
  std::optional<layer> known_;
  std::string trouble_;
};

}  // namespace binnacle::callers
