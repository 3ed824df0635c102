#include "agent/process/standard_descriptors.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace binnacle::agent {

void open_standard_descriptors() noexcept {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    const int opened = ::open("/dev/null", O_RDWR);  // gives the lowest one that is free
    if (opened > 2) ::close(opened);
  }
}

void close_from(int first) noexcept {
  if (::close_range(static_cast<unsigned>(first), ~0U, 0) == 0) return;
  for (int fd = first; fd < 4096; ++fd) ::close(fd);
}

}  // namespace binnacle::agent
