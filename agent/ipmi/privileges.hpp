#pragma once

#include "common/error.hpp"

namespace binnacle::ipmi {

/// Gives up for good what the program never needs, before it has touched a BMC: every capability, the way to
/// new ones (no_new_privs), core dumps (they would hold the password), and every descriptor but 0, 1 and 2.
/// What remains of root is being the owner of /dev/ipmi0 and of files. Errors: io.
result<void> drop_privileges();

}  // namespace binnacle::ipmi
