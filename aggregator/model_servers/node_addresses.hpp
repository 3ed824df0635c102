#pragma once

#include "aggregator/kube/objects/reflector.hpp"

#include <map>
#include <string>
#include <string_view>

namespace binnacle::model_servers {

/// The first InternalIP of each node, for templates that use it. Node objects are large, and all other users
/// need only the metadata, so this is a follower of its own.
class node_addresses final : public kube::watcher {
 public:
  static kube::reflector::settings collection();

  /// The node's address; empty if it is not known.
  std::string_view find(std::string_view node) const noexcept;

  void changed(const kube::object_key& key, const boost::json::object& object) override;
  void gone(const kube::object_key& key) override { all_.erase(key.name); }
  void synced() override {}

 private:
  std::map<std::string, std::string, std::less<>> all_;
};

}  // namespace binnacle::model_servers
