#pragma once

#include "common/async/task.hpp"
#include "common/error.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>

#include <string>
#include <utility>

namespace binnacle::async {

/// Returns at `until`. Throws nothing; a cancelled coroutine notices the cancellation at its next await.
task<void> wait_until(deadline until);

/// Runs `op`. If `op` takes too long, it is cancelled, and the result is errc::timeout with a sentence that
/// names `what`. For operations without a deadline of their own; those of async::stream have one, which costs
/// less. An exception of `op` after `until` is reported as the timeout. Use named awaitables:
/// with_timeout(read_all(path), within(5s), "reading").
template <class T>
task<result<T>> with_timeout(task<result<T>> op, deadline until, std::string what) {
  using namespace boost::asio::experimental::awaitable_operators;
  auto outcome = co_await (std::move(op) || wait_until(until));
  if (outcome.index() == 0) co_return std::get<0>(std::move(outcome));
  co_return error{errc::timeout, what + " took too long"};
}

}  // namespace binnacle::async
