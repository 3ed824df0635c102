#pragma once

#include "tests/support/data.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace binnacle::policy::test {

/// The text of tests/data/policies/`name`.
inline std::string data(const std::string& name) {
  std::ifstream in(support::data_folder() + "/policies/" + name);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace binnacle::policy::test
