#pragma once

#include "common/system/descriptor.hpp"

#include <string>
#include <sys/stat.h>

namespace binnacle::agent {

/// A file in a folder that other users may write to. It is looked at first and opened later. open() opens the
/// file that was looked at, even if its name leads to another file by then.
class folder_entry {
 public:
  /// Looks at `name` without opening it for reading. On failure the result is empty and errno is set.
  static folder_entry look(const std::string& folder, const std::string& name) noexcept;

  explicit operator bool() const noexcept { return static_cast<bool>(target_); }
  /// stat(2) of the file. If the name is a link, of the file to which it leads.
  const struct ::stat& about() const noexcept { return about_; }
  /// Whether a user made a link to another user's file. We may be allowed to read a file that the link's
  /// owner may not read. Links of root (in a mounted ConfigMap) may lead to anybody's file.
  bool links_to_another_users_file() const noexcept { return owner_ != 0 && owner_ != about_.st_uid; }
  /// Opens the file. On failure the result is empty and errno is set. Needs /proc. Source: open(2), O_PATH.
  descriptor open() const noexcept;

 private:
  descriptor target_;  // O_PATH
  struct ::stat about_ {};
  uid_t owner_ = 0;  // owner of the link itself, if the name is a link
};

}  // namespace binnacle::agent
