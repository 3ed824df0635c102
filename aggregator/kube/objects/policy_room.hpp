#pragma once

#include "aggregator/kube/objects/reflector.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::kube {

/// Which TASPolicy objects are read, so that their number and the size of their texts do not decide how much
/// memory and time reading takes: a text is read only if it and all others are within the limits. What a
/// policy costs once it is read is another question (policy/cost). Pure.
///
/// An object that has room keeps it: no edit of another object takes it away. While the first list comes, an
/// older object takes the room of younger ones, since a list comes in the order of names.
class policy_room {
 public:
  struct limits {
    std::size_t objects = 2'000;
    std::size_t object_bytes = 128 << 10;
    /// The part of the objects, and of the bytes, that one namespace may have.
    unsigned namespace_percent = 75;
    std::size_t bytes() const noexcept { return objects * (4 << 10); }
  };
  /// Why an object has no room: figures, and what helps.
  struct refusal {
    std::string figures, remedy;
    bool may_fit_later = false;  ///< when others have gone
  };
  /// An object that had room and has it no longer.
  using displaced = std::pair<object_key, refusal>;

  explicit policy_room(limits most) : limits_(most) {}

  /// Whether a text of `bytes` has room. If not, the object keeps the room of its text before. `created`: see
  /// policy::created. With `younger`, younger objects make room; they are added there.
  std::optional<refusal> put(const object_key& key, const std::string& created, std::size_t bytes,
                             std::vector<displaced>* younger);
  void remove(const object_key& key);
  const limits& most() const noexcept { return limits_; }
  /// Whether room was given back since the last call.
  bool take_freed() noexcept { return std::exchange(freed_, false); }

 private:
  struct entry {
    std::string created;
    std::size_t bytes = 0;
  };
  struct sum {
    std::size_t bytes = 0;
    std::set<std::pair<std::string, object_key>> by_age;
  };
  /// Whose limit another object of that size would exceed.
  struct excess {
    const sum* of = nullptr;
    refusal why;
  };
  std::optional<excess> exceeded(const std::string& name_space, std::size_t bytes) const;
  void add(const object_key& key, entry e);
  std::optional<entry> take_off(const object_key& key);

  const limits limits_;
  std::map<object_key, entry> known_;
  sum all_;
  std::map<std::string, sum> namespaces_;
  bool freed_ = false;
};

}  // namespace binnacle::kube
