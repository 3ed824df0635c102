#include "cli/doctor/place.hpp"

#include "common/system/descriptor.hpp"
#include "common/system/os_error.hpp"
#include "common/system/read_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace binnacle::cli::doctor {

std::string place::sys() const {
  if (agent.has_value()) return path(agent->settings.sys_root);
  const std::string host_sys = path("/host/sys");
  return exists(host_sys + "/class") ? host_sys : path("/sys");
}

std::optional<std::string> first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  const auto begin = line.find_first_not_of(" \t");
  if (begin == line.npos) return std::string();
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

result<std::string> last_bytes(const std::string& file, std::size_t most) {
  const descriptor from(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from) return error{errc_of(errno), describe(errno)};
  struct stat s {};  // the kernel says 0 bytes of a file in /proc
  if (::fstat(from.get(), &s) == 0 && s.st_size > static_cast<off_t>(most))
    ::lseek(from.get(), s.st_size - static_cast<off_t>(most), SEEK_SET);
  return read_file(from.get(), 2 * most);  // a log may grow meanwhile
}

bool exists(const std::string& file) noexcept {
  struct stat s {};
  return ::stat(file.c_str(), &s) == 0;
}

}  // namespace binnacle::cli::doctor
