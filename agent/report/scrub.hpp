#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// Returns `text` without what tells whose machine it is. Each hardware address ("34:88:5d:01:02:03", also
/// with '-' or '_', and of eight bytes; "enx34885d010203") and each IP address becomes "(address)". Each of
/// `names` that occurs as a whole word, in upper or lower case, becomes "(name)". Names of fewer than three
/// characters stay: they tell nothing. Control characters of terminals become '?'. The places of PCI and SCSI
/// devices ("0000:00:18.3", "0:0:0:0") stay. Pure.
std::string scrubbed(std::string_view text, const std::vector<std::string>& names);

}  // namespace binnacle::agent
