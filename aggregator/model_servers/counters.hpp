#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace binnacle::model_servers {

/// What became of a call to a model server.
enum class call_outcome : std::uint8_t { answered, halved, refused, implausible, failed };
inline constexpr std::size_t call_outcomes = 5;
std::string_view to_string(call_outcome o) noexcept;  ///< "answered", "halved"…

using call_counters = std::array<std::uint64_t, call_outcomes>;  ///< by call_outcome

}  // namespace binnacle::model_servers
