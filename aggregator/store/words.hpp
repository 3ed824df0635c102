#pragma once

#include "common/clock.hpp"

#include <cstdint>
#include <span>
#include <vector>

/// How state is laid out in a snapshot (aggregator/snapshot): a run of whole numbers, written by the class
/// that owns the state and read back by the same class. Counts come before what they count.
namespace binnacle::store {

using words = std::vector<std::int64_t>;

/// Reads what was written, from a source that may be wrong: past the end every word is 0 and ok() is false
/// from then on.
class word_reader {
 public:
  /// Some 36 years in ns. Two such instants added, and then shifted, still fit into 64 bits.
  static constexpr duration longest{std::int64_t{1} << 60};

  /// `shift` brings instants of the snapshot to this process's boot time; twice `longest` at most.
  explicit word_reader(std::span<const std::int64_t> all, duration shift = {}) noexcept
      : all_(all), shift_(shift) {}

  bool ok() const noexcept { return ok_; }
  /// The caller has found an impossible word.
  void fail() noexcept { ok_ = false; }
  std::int64_t next() noexcept {
    if (!ok_ || at_ == all_.size()) {
      ok_ = false;
      return 0;
    }
    return all_[at_++];
  }
  /// A word that must be from `least` to `most`; else `least`, and ok() is false.
  std::int64_t next(std::int64_t least, std::int64_t most) noexcept {
    const std::int64_t word = next();
    if (word >= least && word <= most) return word;
    ok_ = false;
    return least;
  }
  bool flag() noexcept { return next(0, 1) != 0; }
  /// An instant, at most `longest` from the beginning of its boot.
  instant time() noexcept { return from_ns(next(-longest.count(), longest.count())) + shift_; }
  /// An instant that was written in whole microseconds.
  std::int64_t time_us() noexcept {
    return next(-longest.count() / 1000, longest.count() / 1000) + shift_.count() / 1000;
  }
  /// The next `count` words, to be read by somebody else.
  word_reader part(std::int64_t count) noexcept {
    if (count < 0 || static_cast<std::uint64_t>(count) > all_.size() - at_) {
      ok_ = false;
      count = 0;
    }
    const auto inner = all_.subspan(at_, static_cast<std::size_t>(count));
    at_ += inner.size();
    return word_reader(inner, shift_);
  }

 private:
  std::span<const std::int64_t> all_;
  duration shift_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace binnacle::store
