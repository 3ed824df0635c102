#pragma once

#include <string>
#include <utility>

namespace binnacle {

/// Owns a file descriptor; −1: none.
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

/// Opens a file for reading, close-on-exec, and does not wait for the writer of a FIFO. On failure the
/// descriptor is empty, and errno is set.
descriptor open_readonly(const std::string& path) noexcept;
descriptor open_readonly_at(int folder, const char* name) noexcept;

}  // namespace binnacle
