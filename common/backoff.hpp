#pragma once

#include "common/doubling.hpp"

#include <algorithm>
#include <random>

namespace binnacle {

/// How long to wait before the next attempt: a span drawn evenly from [least, ceiling], whose ceiling doubles
/// with every attempt up to a cap. Drawing from the whole range ("full jitter") spreads a herd that was cut
/// off at one moment best. Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
class backoff {
 public:
  struct settings {
    duration least = std::chrono::milliseconds(100);
    duration first_ceiling = std::chrono::seconds(1);
    duration cap = std::chrono::seconds(30);
  };

  explicit backoff(const settings& s) : settings_(s), ceiling_(s.first_ceiling, s.cap) {}

  /// The next span. It is `at_least` (a peer's retryAfter) plus the random span.
  template <class Random>
  duration next(Random& random, duration at_least = {}) {
    std::uniform_int_distribution<duration::rep> draw(settings_.least.count(),
                                                      std::max(settings_.least, ceiling_.next()).count());
    const duration jitter(draw(random));
    return at_least > duration::zero() ? at_least + jitter : jitter;
  }

  /// The attempt succeeded: the next failure begins with the shortest wait again.
  void reset() noexcept { ceiling_.reset(); }

 private:
  settings settings_;
  doubling ceiling_;
};

}  // namespace binnacle
