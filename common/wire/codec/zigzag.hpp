#pragma once

#include <cstdint>
#include <limits>

namespace binnacle::wire::detail {

/// In the deltas column it means: the mantissa itself is in `wide`. It is also the zigzag form of -2^31. So
/// that difference is never sent as a delta.
inline constexpr std::uint32_t wide_escape = 0xffff'ffff;

/// The zigzag form (0, -1, 1, -2 → 0, 1, 2, 3) of `value - base`, or wide_escape if that needs more than 32
/// bits. The difference wraps in two's complement, so every two mantissas have one.
inline std::uint32_t zigzag(std::int64_t value, std::int64_t base) noexcept {
  const auto d =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(base));
  if (d > std::numeric_limits<std::int32_t>::max() || d <= std::numeric_limits<std::int32_t>::min())
    return wide_escape;
  return (static_cast<std::uint32_t>(d) << 1) ^ static_cast<std::uint32_t>(d >> 63);
}

/// The inverse of zigzag(), given the same base.
inline std::int64_t unzigzag(std::uint32_t z, std::int64_t base) noexcept {
  const auto d =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(z >> 1) ^ -static_cast<std::int64_t>(z & 1));
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(base) + d);
}

}  // namespace binnacle::wire::detail
