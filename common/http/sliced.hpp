#pragma once

#include "common/http/exchange.hpp"

#include <functional>
#include <memory>

namespace binnacle::http {

/// An answer made piece by piece, so that a list of the whole fleet lets the scheduler's calls through in
/// between.
class slices {
 public:
  virtual ~slices() = default;
  /// Does about a millisecond of the work. False when nothing is left.
  virtual bool step() = 0;
  /// The answer, after step() returned false.
  virtual response take() = 0;
};

/// An answer that is there already.
std::unique_ptr<slices> ready(response answer);

/// Runs a function on the loop, after what is waiting there already (asio::post).
using run_later = std::function<void(std::function<void()>)>;

/// An exchange that takes one step after another, each behind what else the loop has to do; it stops when the
/// peer goes away. The request's body is read and dropped.
std::unique_ptr<exchange> run_sliced(std::unique_ptr<slices> work, run_later later);

/// How many sliced answers are in the making: each may hold some ten megabytes.
class slices_running {
 public:
  explicit slices_running(long most) : most_(most) {}
  /// Whether there are as many as may be: further ones are to be refused.
  bool full() const noexcept { return running_.use_count() > most_; }
  /// What those are told: 503, to come back in a second.
  static response refusal(failure_form form);
  /// `work`, which counts as running for as long as it exists.
  std::unique_ptr<slices> count(std::unique_ptr<slices> work) const;

 private:
  long most_;
  std::shared_ptr<int> running_ = std::make_shared<int>();  // one reference more for each
};

}  // namespace binnacle::http
