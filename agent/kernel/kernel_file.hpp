#pragma once

#include "common/error.hpp"
#include "common/system/descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// A file of /proc or /sys that stays open and is read again from its start each time; the kernel then makes
/// its text anew. Source: proc(5), Linux Documentation/filesystems/sysfs.rst.
class kernel_file {
 public:
  kernel_file() = default;
  /// Opens nothing; the first read() does.
  explicit kernel_file(std::string path) : path_(std::move(path)) {}

  const std::string& path() const noexcept { return path_; }
  /// The whole text of the file, at most `limit` bytes. The view is valid until `buffer` changes. After a
  /// failure the next call opens the file again. Errors: by errno (not_found, permission, io); overloaded
  /// beyond `limit`. Blocks: for about one pread(2) a page.
  result<std::string_view> read(std::vector<char>& buffer, std::size_t limit = 4u << 20);
  /// The whole number in a small sysfs file, with one pread(2) and without making an error's text. Nothing if
  /// the file cannot be read or holds no number (EINVAL); last_errno() says which.
  std::optional<std::int64_t> read_integer() noexcept;
  /// The errno of the last failed read.
  int last_errno() const noexcept { return errno_; }

 private:
  std::string path_;
  descriptor fd_;
  int errno_ = 0;
};

/// The first line of a small file, trimmed; nothing if it cannot be read or has more than 511 bytes. Bytes
/// that are not UTF-8 are '?', as on the board: names that differ here differ there, too.
std::optional<std::string> read_line(const std::string& path);

/// The names in a folder, sorted. Empty if the folder cannot be read.
std::vector<std::string> names_in(const std::string& folder);

/// Whether something exists at `path`. False also if this program may not look there.
bool there(const std::string& path);

}  // namespace binnacle::agent
