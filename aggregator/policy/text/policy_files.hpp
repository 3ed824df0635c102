#pragma once

#include "aggregator/policy/text/alias_file.hpp"
#include "aggregator/policy/text/folder.hpp"
#include "aggregator/policy/text/kept_policy.hpp"
#include "aggregator/policy/text/policies_read.hpp"
#include "common/clock.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace binnacle::policy {

/// Follows the policy folder and the file of aliases on a thread of its own. They may lie on a disk or a
/// network that hangs; the loop that agents are connected to reads no file for them.
class policy_files {
 public:
  /// The thread calls these after start(), whenever something has changed; they must only post. The first
  /// look at the folder calls them only if it finds something else than read_now() found. No call comes after
  /// the destructor has returned.
  struct news {
    std::function<void(policies_read)> policies;
    std::function<void(alias_file)> aliases;  ///< a copy, as it is now
  };

  /// Either may be left out: a folder without a path is not followed, nor is an alias file without one.
  policy_files(const std::string& folder, alias_file aliases, duration period, news tell);
  /// Does not wait for a read that hangs.
  ~policy_files();
  policy_files(const policy_files&) = delete;
  policy_files& operator=(const policy_files&) = delete;

  /// What an earlier process had read last: see policy_set::recall(). Call it before the functions below.
  void recall(const std::vector<kept_policy>& all);
  /// Reads the folder once, on the caller's thread: before anything is served, and before start().
  policies_read read_now();
  /// Begins to follow, with a first look at once. To be called once.
  void start();

 private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

}  // namespace binnacle::policy
