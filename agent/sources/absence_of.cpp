#include "agent/sources/absence_of.hpp"

#include "common/os_error.hpp"

namespace binnacle::agent {

wire::absence absence_of(int error_number) noexcept {
  if (error_number == 0) return wire::absence::none;
  switch (errc_of(error_number)) {
    case errc::permission: return wire::absence::permission;
    case errc::not_found: return wire::absence::missing;
    case errc::invalid_input: return wire::absence::malformed;
    case errc::timeout: return wire::absence::timeout;
    default: return wire::absence::no_data;
  }
}

}  // namespace binnacle::agent
