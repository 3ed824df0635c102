#include "common/error.hpp"

#include <ostream>

namespace binnacle {

std::string_view to_string(errc code) noexcept {
  switch (code) {
    case errc::invalid_input: return "invalid_input";
    case errc::not_found: return "not_found";
    case errc::permission: return "permission";
    case errc::unsupported: return "unsupported";
    case errc::io: return "io";
    case errc::timeout: return "timeout";
    case errc::disconnected: return "disconnected";
    case errc::overloaded: return "overloaded";
    case errc::protocol: return "protocol";
    case errc::internal: return "internal";
  }
  return "internal";
}

std::ostream& operator<<(std::ostream& out, const error& e) {
  return out << to_string(e.code) << ": " << e.message;
}

void throw_exception_from_error(const error& e, const boost::source_location&) { throw failure(e); }

}  // namespace binnacle
