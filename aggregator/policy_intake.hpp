#pragma once

#include "aggregator/policy/text/policies_read.hpp"
#include "aggregator/policy/text/policy_set.hpp"
#include "common/clock.hpp"
#include "common/log/log.hpp"

#include <cstdint>
#include <memory>
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
  /// Takes objects of the API server; see ingest_inbox::take_policies().
  void take_objects(const std::vector<policy_text>& changed, std::string trouble, bool all_read, instant now);
  /// Takes the present content of the file of aliases; `path` is for the log.
  void take_aliases(const policy::alias_file& now_there, std::string_view path, instant now);

  /// Problems of policies and aliases, as last read.
  std::vector<policy::problem> problems() const;
  /// The number of calls of take_objects().
  std::uint64_t objects_taken() const noexcept { return objects_taken_; }

 private:
  void tell(const policy::problem& p, std::string_view kind) const;
  void put_in_force(instant now);

  core& core_;
  std::shared_ptr<const metrics::alias_table> names_;  // in force
  const logger log_;
  policy::policy_set objects_;  // texts of the API server's objects
  bool all_read_ = false;       // all of the API server's policies have been read once
  std::uint64_t objects_taken_ = 0;
  policy::policies_read known_;
  std::vector<policy::problem> alias_problems_;
};

}  // namespace binnacle::aggregator
