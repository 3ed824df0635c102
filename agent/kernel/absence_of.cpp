#include "agent/kernel/absence_of.hpp"

#include "common/system/os_error.hpp"

namespace binnacle::agent {

wire::absence absence_of(errc code) noexcept {
  switch (code) {
    case errc::permission: return wire::absence::permission;
    case errc::not_found:
    case errc::unsupported:
    case errc::disconnected: return wire::absence::missing;
    case errc::invalid_input:
    case errc::protocol: return wire::absence::malformed;
    case errc::timeout: return wire::absence::timeout;
    case errc::io:
    case errc::overloaded:
    case errc::internal: break;
  }
  return wire::absence::no_data;
}

wire::absence absence_of(int error_number) noexcept {
  return error_number == 0 ? wire::absence::none : absence_of(errc_of(error_number));
}

}  // namespace binnacle::agent
