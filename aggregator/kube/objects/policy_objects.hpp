#pragma once

#include "aggregator/kube/objects/policy_room.hpp"
#include "aggregator/kube/objects/reflector.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::kube {

/// TASPolicy objects of the API server as texts, in the form that files have: apiVersion, kind, metadata and
/// spec, without the parts that change by themselves (status, managedFields, annotations). So the reader of
/// policy files can read them, and a written status does not count as a change.
///
/// Whoever may write such objects decides how many there are and how large. So a text that has no room
/// (policy_room) is not passed on, and no text is kept once it has been taken.
class policy_objects final : public watcher {
 public:
  /// What to follow.
  static reflector::settings collection();

  explicit policy_objects(policy_room::limits most = {}) : room_(most) {}

  /// A policy's new text, or why it is refused unread; neither if the policy is gone. `name` is for people:
  /// "TASPolicy default/power".
  struct change {
    std::string name;
    std::optional<std::string> text;
    std::optional<policy_room::refusal> refused;
    object_key key;
    std::string uid;  ///< of a refused one: its last good version is that of the same object only
    bool gone() const noexcept { return !text && !refused; }
  };
  /// The policies that changed since the last call, each once.
  std::vector<change> take();
  /// Whether an object that had no room may have it now: all should be read again.
  bool take_wants_all_again();

  /// A policy as the API server has it now.
  struct object {
    std::string uid;
    std::int64_t generation = 0;  ///< rises with every change of spec
    boost::json::object status;   ///< empty if it is larger than any of ours
    std::uint64_t text_mark = 0;  ///< a keyed hash of its text
    bool refused = false;
    bool waits_for_room = false;
  };
  /// Those that have room, and as many others.
  const std::map<object_key, object>& objects() const noexcept { return objects_; }
  /// The value of `change::name` for this key.
  static std::string name_of(const object_key& key) { return "TASPolicy " + key.text(); }

  void changed(const object_key& key, const boost::json::object& object) override;
  void gone(const object_key& key) override;
  void synced() override { synced_ = true; }

 private:
  struct news {
    std::string text;
    std::optional<policy_room::refusal> refused;
  };
  void refuse(const object_key& key, policy_room::refusal why);
  void displace(const object_key& key, policy_room::refusal why);
  void forget(const object_key& key);

  policy_room room_;
  std::map<object_key, object> objects_;
  std::map<object_key, std::optional<news>> changed_;  // none: it is gone
  std::size_t refused_ = 0;                            // of objects_
  bool left_out_ = false;                              // some are not even in objects_
  bool synced_ = false;
};

}  // namespace binnacle::kube
