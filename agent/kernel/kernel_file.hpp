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

/// A file of /proc or /sys that is kept open and read again from its start each time (the kernel makes it
/// anew then). Source: proc(5), Linux Documentation/filesystems/sysfs.rst.
class kernel_file {
 public:
  kernel_file() = default;
  /// Nothing is opened before the first read().
  explicit kernel_file(std::string path) : path_(std::move(path)) {}

  const std::string& path() const noexcept { return path_; }
  /// Its whole text, at most `limit` bytes; the view is valid until `buffer` changes. A file that could not
  /// be opened or read is opened again at the next call. Errors: by errno (not_found, permission, io);
  /// overloaded beyond `limit`. Blocks: for one pread(2) a page or so.
  result<std::string_view> read(std::vector<char>& buffer, std::size_t limit = 4u << 20);
  /// The whole number that a small file of sysfs holds, with one pread(2) and no text of an error; nothing if
  /// it cannot be read (last_errno() says why) or is no number (EINVAL).
  std::optional<std::int64_t> read_integer() noexcept;
  /// The errno of the last failed read.
  int last_errno() const noexcept { return errno_; }

 private:
  std::string path_;
  descriptor fd_;
  int errno_ = 0;
};

/// The first line of a small file, trimmed; nothing if it cannot be read or has more than 511 bytes.
std::optional<std::string> read_line(const std::string& path);

/// Whether something lies at `path`; false also where this program may not look.
bool there(const std::string& path);

}  // namespace binnacle::agent
