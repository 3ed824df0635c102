#pragma once

#include "common/text/quantity.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle {

/// The most cores that one pod of `binnacle what-if` may request.
inline constexpr std::int64_t most_pod_cores = 1'024;

/// What one pod of `binnacle what-if` requests, for the command and for the route that answers it. Nothing if
/// it is no quantity above 0, or more than the bound.
inline std::optional<quantity> read_pod_cpu(std::string_view text) {
  const auto cpu = parse_quantity(text);
  if (cpu.has_error() || *cpu <= quantity{} || *cpu > from_integer(most_pod_cores)) return std::nullopt;
  return *cpu;
}

/// Which texts read_pod_cpu() takes, for a message.
inline std::string form_of_pod_cpu() {
  return "what one pod requests, above 0 and at most " + std::to_string(most_pod_cores) +
         " cores, such as 4 or 500m";
}

}  // namespace binnacle
