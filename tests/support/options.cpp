#include "tests/support/options.hpp"

#include <cstdio>
#include <iostream>

namespace binnacle::support {

std::optional<int> read_options(config_spec& spec, const std::string& program, int argc,
                                const char* const* argv,
                                const std::vector<std::pair<std::string, const std::string*>>& required) {
  const auto refuse = [&](const std::string& why) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), why.c_str());
    return 2;
  };
  const auto parsed = spec.parse(argc, argv, std::cout);
  if (!parsed) return refuse(parsed.error().message);
  if (parsed->exit) return 0;
  for (const auto& [key, value] : required)
    if (value->empty()) return refuse("--" + key + " is missing; see --help");
  return std::nullopt;
}

}  // namespace binnacle::support
