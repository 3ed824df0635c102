#pragma once

#include "common/system/descriptor.hpp"

#include <string>
#include <sys/stat.h>

namespace binnacle::agent {

/// A file in a folder that others may write to. It is looked at first and opened later. open() opens the file
/// that was looked at, even if its name leads to another one by then.
class folder_entry {
 public:
  /// Looks at `name`; nothing is opened for reading. On failure empty, with errno set.
  static folder_entry look(const std::string& folder, const std::string& name) noexcept;

  explicit operator bool() const noexcept { return static_cast<bool>(target_); }
  /// stat(2) of the file; if the name is a link, of the file that it leads to.
  const struct ::stat& about() const noexcept { return about_; }
  /// A user's link to another user's file: we may be allowed to read what the user who made the link is not.
  /// Root's links (a mounted ConfigMap's) are anybody's.
  bool links_to_another_users_file() const noexcept { return owner_ != 0 && owner_ != about_.st_uid; }
  /// On failure empty, with errno set. Needs /proc. Source: open(2), O_PATH.
  descriptor open() const noexcept;

 private:
  descriptor target_;  // O_PATH
  struct ::stat about_ {};
  uid_t owner_ = 0;  // of the name's own entry
};

}  // namespace binnacle::agent
