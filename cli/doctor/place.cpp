#include "cli/doctor/place.hpp"

#include "common/system/os_error.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <sys/stat.h>

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
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    const int why = errno;
    return error{errc_of(why), describe(why)};
  }
  in.seekg(0, std::ios::end);
  const auto size = static_cast<std::size_t>(in.tellg());
  if (size > most)
    in.seekg(static_cast<std::streamoff>(size - most));
  else
    in.seekg(0);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

bool exists(const std::string& file) noexcept {
  struct stat s {};
  return ::stat(file.c_str(), &s) == 0;
}

}  // namespace binnacle::cli::doctor
