#include "agent/kernel/absence_of.hpp"

#include "common/system/os_error.hpp"

namespace binnacle::agent {

absence absence_of(errc code) noexcept {
  switch (code) {
    case errc::permission: return absence::permission;
    case errc::not_found:
    case errc::unsupported:
    case errc::disconnected: return absence::missing;
    case errc::invalid_input:
    case errc::protocol: return absence::malformed;
    case errc::timeout: return absence::timeout;
    case errc::io:
    case errc::overloaded:
    case errc::internal: break;
  }
  return absence::no_data;
}

absence absence_of(int error_number) noexcept {
  return error_number == 0 ? absence::none : absence_of(errc_of(error_number));
}

}  // namespace binnacle::agent
