#pragma once

#include <string>
#include <utility>
#include <vector>

namespace binnacle::cli::doctor {

enum class grade : unsigned char {
  ok,
  warning,    ///< works, or works in part, and a person should look at it
  failure,    ///< does not work
  unchecked,  ///< cannot be checked from here, or the doctor was not told how to reach it
};

/// One result of a check.
struct finding {
  grade how = grade::ok;
  std::string sentence;  ///< the result in words
  std::string remedy;    ///< what to do about it; empty: nothing
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

/// The findings of one check; chapters are in the order of checks().
struct chapter {
  std::string check;
  findings found;
};

}  // namespace binnacle::cli::doctor
