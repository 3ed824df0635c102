#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace binnacle::bench {

/// Random numbers that are the same on every machine and library (SplitMix64).
class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t n) noexcept { return next() % n; }
  /// A random number in (0, 1).
  double share() noexcept { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }
  double between(double low, double high) noexcept { return low + (high - low) * share(); }
  double exponential(double mean) noexcept { return -mean * std::log(share()); }
  double normal() noexcept {
    return std::sqrt(-2 * std::log(share())) * std::cos(2 * std::numbers::pi * share());
  }

 private:
  std::uint64_t state_;
};

}  // namespace binnacle::bench
