#pragma once

#include "aggregator/kube/reflector.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::kube {

/// TASPolicy objects of the API server as texts, in the form that files have: apiVersion, kind, metadata and
/// spec, and nothing that changes by itself (status, managedFields, annotations). So the reader of files
/// reads them, too, and a status that is written wakes nobody.
class policy_objects final : public watcher {
 public:
  /// What to follow.
  static reflector::settings collection();

  /// A policy's new text, or none: it is gone. `name` is for people: "TASPolicy default/power".
  struct change {
    std::string name;
    std::optional<std::string> text;
  };
  /// What happened since the last call, each policy once.
  std::vector<change> take();

  void changed(const object_key& key, const boost::json::object& object) override;
  void gone(const object_key& key) override;
  void synced() override {}

 private:
  std::map<object_key, std::string> texts_;
  std::map<object_key, bool> changed_;  // value: it is there
};

}  // namespace binnacle::kube
