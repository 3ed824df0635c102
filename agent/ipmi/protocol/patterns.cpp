#include "agent/ipmi/protocol/protocol.hpp"
#include "common/text/glob.hpp"

#include <fmt/format.h>

namespace binnacle::ipmi {

result<role_rule> parse_role_rule(std::string_view text) {
  const auto equals = text.rfind('=');
  if (equals != text.npos && equals > 0 && equals <= max_pattern) {
    const auto word = text.substr(equals + 1);
    const auto role = sensor_role_of(word);
    if (role != sensor_role::none || word == "none")
      return role_rule{std::string(text.substr(0, equals)), role};
  }
  return error{
      errc::invalid_input,
      fmt::format("\"{}\" gives no role: write PATTERN=inlet, cpu, system_power, psu_input, psu_output "
                  "or none, with a pattern of 1 to {} bytes",
                  text, max_pattern)};
}

bool fits(std::string_view pattern, const sensor& s) noexcept {
  return matches_glob(pattern, s.name) || matches_glob(pattern, s.key);
}

}  // namespace binnacle::ipmi
