#include "common/system/read_file.hpp"

#include "common/system/descriptor.hpp"
#include "common/system/os_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace binnacle {

result<std::string> read_file(int fd, std::size_t most) {
  std::string text;
  char piece[16 * 1024];
  for (;;) {
    // Reads one byte more than allowed: this shows that a file is too large.
    const auto n = ::read(fd, piece, std::min(sizeof piece, most + 1 - text.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error{errc_of(errno), describe(errno)};
    if (n == 0) return text;
    text.append(piece, static_cast<std::size_t>(n));
    if (text.size() > most)
      return error{errc::overloaded, fmt::format("larger than the {} bytes that are read", most)};
  }
}

result<std::string> read_file(const std::string& path, std::size_t most) {
  // Blocking, unlike open_readonly(), because settings may come through a pipe (--config <(...)).
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return error{errc_of(errno), describe(errno)};
  return read_file(file.get(), most);
}

}  // namespace binnacle
