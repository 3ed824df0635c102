#pragma once

#include "common/http/exchange.hpp"

#include <functional>
#include <memory>

namespace binnacle::http {

/// An answer that is made piece by piece, so that calls of the scheduler are served while a list of the whole
/// fleet is made.
class slices {
 public:
  virtual ~slices() = default;
  /// Does about a millisecond of the work. False if nothing is left to do.
  virtual bool step() = 0;
  /// The answer. Call it after step() has returned false.
  virtual response take() = 0;
};

/// An answer that is complete already.
std::unique_ptr<slices> ready(response answer);

/// Runs a function on the loop, after everything that waits there already (asio::post).
using run_later = std::function<void(std::function<void()>)>;

/// An exchange that makes one step at a time. The loop does its other work between two steps. The work stops
/// when the peer goes away. The request's body is read and dropped.
std::unique_ptr<exchange> run_sliced(std::unique_ptr<slices> work, run_later later);

/// Counts the sliced answers that are being made, because each may hold some ten megabytes.
class slices_running {
 public:
  explicit slices_running(long most) : most_(most) {}
  /// Whether the limit is reached: a further answer must be refused.
  bool full() const noexcept { return running_.use_count() > most_; }
  /// The refusal for a further answer: 503, try again in a second.
  static response refusal(failure_form form);
  /// Returns `work` in a wrapper that counts as running for as long as it exists.
  std::unique_ptr<slices> count(std::unique_ptr<slices> work) const;

 private:
  long most_;
  std::shared_ptr<int> running_ = std::make_shared<int>();  // each running answer holds one more reference
};

}  // namespace binnacle::http
