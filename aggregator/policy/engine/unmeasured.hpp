#pragma once

#include <set>
#include <string>
#include <vector>

namespace binnacle::policy {

/// The families that nodes announce.
using family_names = std::set<std::string, std::less<>>;

/// What to do about metrics that no node has a value of: the announced name that one of them was probably
/// meant to be, that no series can have such a name, else where to look. `missing` are as rules name them.
std::string remedy_for_unmeasured(const std::vector<std::string>& missing, const family_names& announced);

}  // namespace binnacle::policy
