#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::policy {

/// The families that nodes announce.
using family_names = std::vector<std::string_view>;

/// What to do about metrics of which no node has a value, for a message. It names the announced metric that
/// was probably meant, or says that no series can have such a name, or else says where to look. `missing`:
/// the names as rules have them. `work`: as of nearest(); when it is used up, no metric is named.
std::string remedy_for_unmeasured(const std::vector<std::string>& missing, const family_names& announced,
                                  std::size_t& work);

}  // namespace binnacle::policy
