#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace binnacle::predict {

/// What a node, or all nodes of a kind (pooled.hpp), drew at each load: for every twentieth of the load the
/// mean load and the mean watts of the samples near it. Means by load, and not the sums XᵀX of a fit: a day
/// at one load then weighs no more than an hour of it, and what a fit of four terms cannot follow stays
/// known. Units: load 0..1, watts.
class statistics {
 public:
  static constexpr std::size_t bins = 21;  ///< idle, and around 5, 10 … 100 %
  /// Loads below this are one bin, at load 0: a server's watts jump when it leaves idle.
  static constexpr double idle_below = 0.01;
  /// A bin's mean weighs as much as so many samples at most, however many there were: newer ones count more.
  static constexpr std::uint16_t remembered = 600;

  static std::size_t bin_of(double load) noexcept;

  /// Adds a sample at a load 0..1. It counts as `weight` equal samples. `most`: how many the bin's mean
  /// weighs as at most; no more than `remembered`.
  void add(double load, double watts, std::uint16_t weight = 1, std::uint16_t most = remembered) noexcept;

  void forget(std::size_t bin) noexcept;

  std::uint16_t samples(std::size_t bin) const noexcept { return samples_[bin]; }
  double load(std::size_t bin) const noexcept { return static_cast<double>(loads_[bin]); }
  double watts(std::size_t bin) const noexcept { return static_cast<double>(watts_[bin]); }
  bool empty() const noexcept;

 private:
  std::array<float, bins> loads_{}, watts_{};
  std::array<std::uint16_t, bins> samples_{};
};

}  // namespace binnacle::predict
