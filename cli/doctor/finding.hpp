#pragma once

#include <string>
#include <utility>
#include <vector>

namespace binnacle::cli::doctor {

enum class grade : unsigned char {
  ok,
  warning,    ///< works, or works in part, and a person should look at it
  failure,    ///< does not work
  unchecked,  ///< cannot be seen from here, or nothing was given to see it with
};

/// One thing that was looked at.
struct finding {
  grade how = grade::ok;
  std::string sentence;  ///< what is so, for a person
  std::string remedy;    ///< what to do about it, or with it; empty: nothing
};
using findings = std::vector<finding>;

inline finding ok(std::string sentence, std::string remedy = {}) {
  return {grade::ok, std::move(sentence), std::move(remedy)};
}
inline finding warning(std::string sentence, std::string remedy) {
  return {grade::warning, std::move(sentence), std::move(remedy)};
}
inline finding failure(std::string sentence, std::string remedy) {
  return {grade::failure, std::move(sentence), std::move(remedy)};
}
inline finding unchecked(std::string sentence, std::string remedy = {}) {
  return {grade::unchecked, std::move(sentence), std::move(remedy)};
}

/// What one check found, in the order of checks().
struct chapter {
  std::string check;
  findings found;
};

}  // namespace binnacle::cli::doctor
