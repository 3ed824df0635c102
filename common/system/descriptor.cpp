#include "common/system/descriptor.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace binnacle {

descriptor::~descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

descriptor& descriptor::operator=(descriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

descriptor open_readonly_at(int folder, const char* name) noexcept {
  int fd = -1;
  do {
    fd = ::openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (fd < 0 && errno == EINTR);
  return descriptor(fd);
}

descriptor open_readonly(const std::string& path) noexcept {
  return open_readonly_at(AT_FDCWD, path.c_str());
}

}  // namespace binnacle
