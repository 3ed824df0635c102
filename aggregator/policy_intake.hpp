#pragma once

#include "aggregator/policy/text/policies_read.hpp"
#include "aggregator/policy/text/policy_set.hpp"
#include "common/clock.hpp"
#include "common/log/log.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::metrics {
class alias_table;
}
namespace binnacle::policy {
class alias_file;
}

namespace binnacle::aggregator {

class core;
struct policy_text;  // loop_messages.hpp

/// Brings policies and aliases into the core, from the folder or from the API server. It remembers the
/// problems in them, and logs each refusal once per change, with its place and remedy. Threads: one at a
/// time.
///
/// Texts of the API server's objects wait until they are read, so that many at once hold up nobody: the
/// caller reads one, has its other work done, and reads the next. A newer text of an object replaces one that
/// waits. Namespaces take turns.
class policy_intake {
 public:
  /// `names`: the aliases that the core has from the start. `of` must outlive it.
  policy_intake(core& of, std::shared_ptr<const metrics::alias_table> names, logger log)
      : core_(of), names_(std::move(names)), log_(std::move(log)) {}

  /// Takes the policies that an earlier process had last read from the API server. Call it before the first
  /// object comes.
  void recall(const std::vector<policy::kept_policy>& all) { objects_.recall(all); }
  /// Takes the present content of the policy folder.
  void take_folder(policy::policies_read all, instant now);
  /// Takes objects of the API server, whose texts then wait; see ingest_inbox::take_policies().
  void take_objects(std::vector<policy_text> changed, std::string trouble, bool all_read);
  /// Whether a text waits.
  bool waits() const noexcept { return !texts_.empty(); }
  /// Reads the next text that waits, if there is one.
  void read_next();
  /// Whether what has been read may be put in force and is not yet. At the start all objects that there are
  /// must have been read, because the oldest go first.
  bool may_be_put_in_force() const noexcept;
  /// Puts what has been read in force. Cost: grows with all policies, so the caller puts the changes of some
  /// time in force together.
  void put_objects_in_force(instant now);
  /// Takes the present content of the file of aliases; `path` is for the log.
  void take_aliases(const policy::alias_file& now_there, std::string_view path, instant now);

  /// Problems of policies and aliases, as last read.
  std::vector<policy::problem> problems() const;
  /// How many calls of take_objects() have taken effect: what they brought, or what has replaced it since, is
  /// in force or refused.
  std::uint64_t objects_taken() const noexcept { return taken_; }

 private:
  void tell(const policy::problem& p, std::string_view kind) const;
  void put_in_force(instant now);
  void forget_text(const std::string& name);
  /// How many calls of take_objects() have nothing left that waits.
  std::uint64_t calls_read() const noexcept {
    return waiting_calls_.empty() ? calls_ : *waiting_calls_.begin() - 1;
  }

  core& core_;
  std::shared_ptr<const metrics::alias_table> names_;  // in force
  const logger log_;
  policy::policy_set objects_;  // texts of the API server's objects
  struct waiting {
    std::string text;
    std::uint64_t call = 0;  // by number: the one that brought it, or the first text that it replaces
  };
  std::map<std::string, waiting> texts_;                         // by the object's name for people
  std::multiset<std::uint64_t> waiting_calls_;                   // of texts_
  std::map<std::string, std::deque<std::string>> by_namespace_;  // their names; some wait no longer
  std::string last_namespace_;                                   // that had its turn
  std::set<std::string> read_;                                   // names: not in force yet
  bool changed_ = false;                                         // something is not in force yet
  std::uint64_t calls_ = 0, taken_ = 0;                          // of take_objects()
  std::uint64_t complete_by_ = 0;  // the call with which all of the API server's policies had come; 0: none
  bool all_read_ = false;          // all of the API server's policies have been read once
  policy::policies_read known_;
  std::vector<policy::problem> alias_problems_;
};

}  // namespace binnacle::aggregator
