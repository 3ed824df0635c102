#pragma once

#include "common/error.hpp"
#include "common/wire/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

namespace binnacle::agent {

/// An owned file descriptor; −1 is none.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  ~descriptor();
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept;
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  /// Gives the descriptor away; the caller closes it.
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// What tells one version of a file from another.
struct file_stamp {
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;  ///< since 1970
  std::int64_t changed_ns = 0;
  friend bool operator==(const file_stamp&, const file_stamp&) = default;

  static file_stamp of(const struct ::stat& s) noexcept;
  /// Of the file there; nothing when there is none that could be looked at.
  static std::optional<file_stamp> of(const std::string& path) noexcept;
};

/// Opens read-only and close-on-exec, without waiting for writers of a FIFO. On failure empty, with errno
/// set.
descriptor open_readonly(const std::string& path) noexcept;
descriptor open_readonly_at(int folder, const char* name) noexcept;

/// Why a series has no value, for an errno of open(2), pread(2) or a libpowercap getter.
wire::absence absence_of(int error_number) noexcept;

/// "Permission denied" as words of our own kind: code and text for an errno.
errc errc_of(int error_number) noexcept;
std::string describe(int error_number);

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

/// A whole decimal number with nothing around it but one line end or blanks; nothing for anything else.
std::optional<std::uint64_t> parse_unsigned(std::string_view text) noexcept;

/// The same with a minus sign allowed.
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;

/// `text` without blanks and line ends at its ends.
std::string_view trimmed(std::string_view text) noexcept;

/// The first line of a small file, trimmed; nothing if it cannot be read or has more than 511 bytes.
std::optional<std::string> read_line(const std::string& path);

}  // namespace binnacle::agent
