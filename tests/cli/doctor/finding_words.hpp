#pragma once

#include "cli/doctor/finding.hpp"

#include <algorithm>
#include <string_view>

namespace binnacle::cli::doctor {

inline bool says(const finding& f, std::string_view part) { return f.sentence.find(part) != f.sentence.npos; }
inline bool advises(const finding& f, std::string_view part) { return f.remedy.find(part) != f.remedy.npos; }
inline bool any_says(const findings& all, grade g, std::string_view part) {
  return std::ranges::any_of(all, [&](const finding& f) { return f.how == g && says(f, part); });
}

}  // namespace binnacle::cli::doctor
