#pragma once

#include "aggregator/policy/text/followed_file.hpp"
#include "aggregator/policy/text/problem.hpp"
#include "common/metrics/alias_table.hpp"

#include <memory>
#include <string>
#include <vector>

namespace binnacle::policy {

/// A user's file of aliases (alias_yaml.hpp), followed as it changes. A file with an error is refused as a
/// whole, and the last good table stays. The table also stays while the file is empty or has only comments or
/// "---", since an editor may empty a file before it writes it.
class alias_file {
 public:
  /// Without a path there are the built-in names alone, for ever.
  explicit alias_file(std::string path);

  /// Looks at the file; call it from a timer. True if table() or problems() have changed. Blocks: a stat;
  /// reads what changed.
  bool refresh();

  const std::shared_ptr<const metrics::alias_table>& table() const noexcept { return table_; }
  /// What is wrong with the present file; if nothing, table() is what the file says.
  const std::vector<problem>& problems() const noexcept { return problems_; }

 private:
  std::string path_;
  followed_file file_;
  std::shared_ptr<const metrics::alias_table> table_;
  std::vector<problem> problems_;
};

}  // namespace binnacle::policy
