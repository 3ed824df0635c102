#pragma once

#include "aggregator/policy/text/followed_file.hpp"
#include "aggregator/policy/text/policy_set.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::policy {

/// Whether a folder's file of this name is read: *.yaml or *.yml, and not hidden.
bool is_policy_file(std::string_view name);

/// The *.yaml and *.yml files of a folder as a source of policies; no folders below it, no hidden files.
/// Changes are found as followed_file finds them. An editor that empties a file before it writes it takes
/// nothing out of force.
class folder {
 public:
  /// Further files are left out and named. New files are left out first, beginning with the last name; files
  /// that were read before stay.
  static constexpr std::size_t most_files = 1'000;
  /// A folder with more entries, of whatever kind, is not read: what was read before stays.
  static constexpr std::size_t most_entries = 10'000;

  explicit folder(std::string path) : path_(std::move(path)) {}

  /// Brings `set` up to date; call it from a timer. True if something changed: ask for policies() and
  /// problems() then. A folder or file that cannot be read changes no policy in force. Blocks: one readdir
  /// and a stat per file; reads what changed.
  bool refresh(policy_set& set);

 private:
  /// Takes names out until most_files are left, and returns the names taken out.
  std::vector<std::string> leave_out(std::set<std::string>& names) const;
  bool read(const std::string& name, followed_file& file, policy_set& set) const;

  std::string path_;
  std::string trouble_;
  std::map<std::string, followed_file> files_;  // by name
};

}  // namespace binnacle::policy
