#pragma once

#include "common/async/task.hpp"
#include "common/error.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>

#include <string>
#include <utility>

namespace binnacle::async {

/// Ends when `until` has come. Throws nothing; a cancelled coroutine notices at its next await.
task<void> wait_until(deadline until);

/// `op`, or errc::timeout naming `what` when it takes too long; it is cancelled then. For operations without
/// a deadline of their own: stream's have one, which costs less. An exception of `op` is told as the timeout,
/// when `until` has come. Use named awaitables: with_timeout(read_all(path), within(5s), "reading").
template <class T>
task<result<T>> with_timeout(task<result<T>> op, deadline until, std::string what) {
  using namespace boost::asio::experimental::awaitable_operators;
  auto outcome = co_await (std::move(op) || wait_until(until));
  if (outcome.index() == 0) co_return std::get<0>(std::move(outcome));
  co_return error{errc::timeout, what + " took too long"};
}

}  // namespace binnacle::async
