#pragma once

#include "aggregator/policy/policy_set.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace binnacle::policy {

/// The *.yaml and *.yml files of a folder as a source of policies; no folders below it, no hidden files. The
/// only part of this room that touches the file system.
///
/// Changes are found by stat(2) through links: size, times, inode. So an editor's rename, a write in place
/// and the swapped links of a mounted ConfigMap are all seen. A file that changed within the last two seconds
/// is read again, since two writes may share one time stamp. An editor that empties a file before it writes
/// it takes nothing out of force.
class folder {
 public:
  /// More are left out and named: the new ones, the last by name first; what was read before stays.
  static constexpr std::size_t most_files = 1'000;

  explicit folder(std::string path) : path_(std::move(path)) {}

  /// Brings `set` up to date; call it from a timer. True if something changed: ask for policies() and
  /// problems() then. A folder or file that cannot be read changes no policy in force. Blocks: one readdir
  /// and a stat per file; reads what changed.
  bool refresh(policy_set& set);

 private:
  struct stamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t modified_ns = 0, changed_ns = 0;
    friend bool operator==(const stamp&, const stamp&) = default;
  };
  struct seen {
    stamp when_read;
    bool settled = false;  // old enough when read that a later write has another time
    std::string text;      // while not settled: what was read
    std::string trouble;   // why it could not be read
  };
  /// Takes names out until most_files are left; which.
  std::vector<std::string> leave_out(std::set<std::string>& names) const;
  bool read(const std::string& name, seen& s, policy_set& set) const;

  std::string path_;
  std::string trouble_;
  std::map<std::string, seen> files_;  // by name
};

}  // namespace binnacle::policy
