// An attacker on a node: writes a *.prom file in which the names of all metrics have the same std::hash, with
// four series for each.
//   chosen-names COUNT > FILE
#include "tests/support/colliding_names.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int count, char** words) {
  if (count != 2) return EXIT_FAILURE;
  const auto letters = [](std::uint64_t i) {
    char eight[8];
    for (int at = 0; at < 8; ++at) eight[at] = static_cast<char>('a' + (i >> (4 * at) & 15));
    std::uint64_t out = 0;
    std::memcpy(&out, eight, sizeof out);
    return out;
  };
  const auto is_name = [](std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
  };
  const auto many = static_cast<std::size_t>(std::strtoul(words[1], nullptr, 10));
  for (const auto& name : binnacle::test::colliding_names(many, letters, is_name)) {
    for (int i = 0; i < 4; ++i) std::printf("%s{i=\"%d\"} %d\n", name.c_str(), i, i + 1);
  }
  return EXIT_SUCCESS;
}
