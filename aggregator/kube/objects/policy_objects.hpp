#pragma once

#include "aggregator/kube/objects/reflector.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::kube {

/// TASPolicy objects of the API server as texts, in the form that files have: apiVersion, kind, metadata and
/// spec, without the parts that change by themselves (status, managedFields, annotations). So the reader of
/// policy files can read them, and a written status does not count as a change.
class policy_objects final : public watcher {
 public:
  /// What to follow.
  static reflector::settings collection();

  /// A policy's new text; none if the policy is gone. `name` is for people: "TASPolicy default/power".
  struct change {
    std::string name;
    std::optional<std::string> text;
    object_key key;
  };
  /// The policies that changed since the last call, each once.
  std::vector<change> take();

  /// A policy as the API server has it now.
  struct object {
    std::string text;
    std::string uid;
    std::int64_t generation = 0;  ///< rises with every change of spec
    boost::json::object status;
  };
  const std::map<object_key, object>& objects() const noexcept { return objects_; }
  /// The value of `change::name` for this key.
  static std::string name_of(const object_key& key) { return "TASPolicy " + key.text(); }

  void changed(const object_key& key, const boost::json::object& object) override;
  void gone(const object_key& key) override;
  void synced() override {}

 private:
  std::map<object_key, object> objects_;
  std::map<object_key, bool> changed_;  // value: whether it exists
};

}  // namespace binnacle::kube
