#pragma once

#include "aggregator/policy/text/kept_policy.hpp"
#include "aggregator/policy/text/yaml.hpp"
#include "aggregator/policy/too_costly.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::policy {

/// The policies in force, from any number of files or API objects. The parts of a file's new text that are
/// right replace the old ones. A strategy or policy that is wrong now stays as it was last good, and a file
/// that cannot be read at all changes nothing. Pure: the texts are given.
class policy_set {
 public:
  /// `file` has this text now. One that has become empty counts as unreadable.
  void put(const std::string& file, std::string_view text);
  /// The same for one object of an API server, as JSON. Messages call it `name` and give no line numbers.
  void put_object(const std::string& name, std::string_view json);
  /// The object's text is not read, since it would take too much: what was last good stays in force, if it
  /// is of the object with this UID. `figures`, `remedy`: of too_costly::message.
  void refuse_object(const std::string& name, const policy_key& key, std::string_view uid,
                     std::string figures, std::string_view remedy);
  /// `file` is there and cannot be read: what it gave stays in force.
  void unreadable(const std::string& file, std::string reason);
  /// `file` is gone, and its policies with it.
  void remove(const std::string& file);
  /// What an earlier process had read last of each source. It counts as if this process had read it, until
  /// the source's text comes. Call it before the first text.
  void recall(const std::vector<kept_policy>& all);
  /// All sources have been read: those that were only recalled are gone.
  void forget_recalled();
  /// Something that concerns no single file, or "" when it is over ("the folder /x cannot be read: …").
  void set_trouble(std::string message) { trouble_ = std::move(message); }

  /// By key. Of two files with one policy the first by name counts.
  std::vector<policy> policies() const;
  /// The file or object that each of policies() comes from.
  std::map<policy_key, std::string> sources() const;
  /// Names of policies that are wrong, whole or in part, so that not all of what they mean is known.
  std::set<std::string, std::less<>> wrong_ones() const;
  /// What refuse_object() has refused.
  std::vector<too_costly> refused() const;
  /// Everything that is wrong or strange now, by file and line.
  std::vector<problem> problems() const;

 private:
  struct accepted {
    policy value;
    int line = 0;
  };
  struct source {
    std::vector<accepted> policies;
    std::vector<problem> problems;
    std::vector<std::string> wrong;  // names of policies
    std::optional<too_costly> refused;
    bool recalled = false;  // and not read yet
  };
  std::map<std::string, source> files_;
  std::string trouble_;
};

}  // namespace binnacle::policy
