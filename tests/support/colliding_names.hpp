#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::test {

/// Texts of 16 bytes that all have the same std::hash. In libstdc++ this is MurmurHash64A with a constant
/// seed, and every step of it can be undone. So the second half of each text is chosen such that it brings
/// the state to 0. Source: libstdc++-v3/libsupc++/hash_bytes.cc. `first(i)` makes the first half from a
/// number; a text is used if `fits(text)`.
/// text is taken if `fits(text)`.
template <class First, class Fits>
std::vector<std::string> colliding_names(std::size_t many, First first, Fits fits) {
  constexpr std::uint64_t mul = 0xc6a4a7935bd1e995u, seed = 0xc70f6907u;
  constexpr std::uint64_t inverse = [] {
    std::uint64_t x = mul;  // Newton's method: each step doubles the number of correct bits
    for (int i = 0; i < 6; ++i) x *= 2 - mul * x;
    return x;
  }();
  const auto shift_mix = [](std::uint64_t v) { return v ^ v >> 47; };  // the inverse of itself
  std::vector<std::string> out;
  for (std::uint64_t i = 0; out.size() < many; ++i) {
    std::uint64_t halves[2] = {first(i), 0};
    const std::uint64_t state = ((seed ^ 16 * mul) ^ shift_mix(halves[0] * mul) * mul) * mul;
    halves[1] = shift_mix(state * inverse) * inverse;  // the state becomes 0
    const std::string_view text(reinterpret_cast<const char*>(halves), sizeof halves);
    if (fits(text)) out.emplace_back(text);
  }
  return out;
}

/// Colliding texts of any bytes.
inline std::vector<std::string> colliding_names(std::size_t many) {
  return colliding_names(
      many, [](std::uint64_t i) { return i; }, [](std::string_view) { return true; });
}

}  // namespace binnacle::test
