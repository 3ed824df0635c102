#pragma once

#include "common/http/exchange.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>

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

/// An exchange that makes one step at a time. The loop does its other work between two steps. The work goes
/// on to its end also if the peer goes away meanwhile: nobody reads from the peer before the answer is there.
/// The request's body is read and dropped.
std::unique_ptr<exchange> run_sliced(std::unique_ptr<slices> work, run_later later);

/// Counts the sliced answers that are being made, because each may hold some ten megabytes. One caller
/// (request::caller) has at most half of the places, so that nobody who asks without end keeps others out.
class slices_running {
 public:
  explicit slices_running(std::size_t most) : most_(most) {}
  /// Whether a further answer for `caller` must be refused.
  bool full(const std::string& caller) const;
  /// The refusal for a further answer: 503, try again in a second.
  static response refusal(failure_form form);
  /// Returns `work` in a wrapper that counts as running for `caller` for as long as it exists.
  std::unique_ptr<slices> count(const std::string& caller, std::unique_ptr<slices> work) const;
  /// Work that is not refused, but waits until there is a place for `caller`: nothing is made of it before,
  /// so it has no memory. `make` is called then. It looks once in each round of the loop, in which others
  /// work.
  std::unique_ptr<slices> wait(const std::string& caller,
                               std::function<std::unique_ptr<slices>()> make) const;

 private:
  std::size_t most_;
  std::shared_ptr<std::multiset<std::string>> running_ = std::make_shared<std::multiset<std::string>>();
};

}  // namespace binnacle::http
