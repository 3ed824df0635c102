#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/stat.h>

namespace binnacle {

/// Tells one version of a file from another. The stamp differs after an editor's rename, a write in place, a
/// swap of links in a mounted ConfigMap (stat(2) follows links) and a change of permissions. Two writes of
/// the same size within one tick of the file system's clock may give the same stamp.
struct file_stamp {
  std::uint64_t device = 0, inode = 0;
  std::int64_t size = 0;         ///< bytes
  std::int64_t modified_ns = 0;  ///< since 1970
  std::int64_t changed_ns = 0;
  friend bool operator==(const file_stamp&, const file_stamp&) = default;

  static file_stamp of(const struct ::stat& s) noexcept;
  /// The stamp of the file at `path`; nothing if it cannot be looked at.
  static std::optional<file_stamp> of(const std::string& path) noexcept;
};

}  // namespace binnacle
