#include "agent/ipmi/privileges.hpp"

#include "agent/process/capabilities.hpp"
#include "agent/process/standard_descriptors.hpp"

#include <cerrno>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

namespace binnacle::ipmi {

result<void> drop_privileges() {
  const auto failed = [](const char* what) {
    return error{errc::io, std::string("cannot give up ") + what + " (error " + std::to_string(errno) + ")"};
  };
  // An agent opens its sockets so that they are closed here anyway; this holds for any parent.
  agent::close_from(3);
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return failed("core dumps");
  return agent::keep_only(0);
}

}  // namespace binnacle::ipmi
