#include "common/system/os_error.hpp"

#include <cerrno>
#include <system_error>

namespace binnacle {

errc errc_of(int error_number) noexcept {
  switch (error_number) {
    case EACCES:
    case EPERM: return errc::permission;
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case ENOTDIR:
    case EBADF:  // libpowercap's getters give this for an absent file
      return errc::not_found;
    case EINVAL:
    case ERANGE:
    case EISDIR: return errc::invalid_input;
    case ETIMEDOUT:
    case EAGAIN: return errc::timeout;
    default: return errc::io;
  }
}

std::string describe(int error_number) {
  return std::error_code(error_number, std::generic_category()).message();
}

}  // namespace binnacle
