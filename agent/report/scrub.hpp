#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// `text` without what says whose machine it is: each hardware address ("34:88:5d:01:02:03", also with '-' or
/// '_', and of eight bytes; "enx34885d010203") and each IP address becomes "(address)", each of `names` that
/// stands there as a whole word "(name)", in any case of letters. Names of fewer than three characters are
/// left: they say nothing. Characters that a terminal obeys become '?'. Places of PCI and SCSI devices
/// ("0000:00:18.3", "0:0:0:0") stay. Pure.
std::string scrubbed(std::string_view text, const std::vector<std::string>& names);

}  // namespace binnacle::agent
