#include "cli/input_file.hpp"

#include <fstream>
#include <iostream>
#include <iterator>

namespace binnacle::cli {

std::optional<std::string> input_file(const std::string& name) {
  if (name == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream in(name, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace binnacle::cli
