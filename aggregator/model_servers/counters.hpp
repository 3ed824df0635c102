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

/// What became of a call to an endpoint provider.
enum class provider_outcome : std::uint8_t { answered, refused, unusable, failed };
inline constexpr std::size_t provider_outcomes = 4;
std::string_view to_string(provider_outcome o) noexcept;  ///< "answered", "refused"…

using provider_counters = std::array<std::uint64_t, provider_outcomes>;  ///< by provider_outcome

}  // namespace binnacle::model_servers
