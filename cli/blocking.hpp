#pragma once

#include "common/async/task.hpp"
#include "common/error.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <utility>

namespace binnacle::cli {

template <class T>
async::task<void> keep_outcome(async::task<result<T>> of, result<T>* in) {
  *in = co_await std::move(of);
}

/// Runs `work` on an event loop of its own and blocks until it is done; for commands that have nothing else
/// to do. `work` must have a deadline. Include from .cpp files only.
template <class T>
result<T> blocking(async::task<result<T>> work) {
  result<T> out = error{errc::internal, "the operation never ran"};
  async::loop loop(1);
  boost::asio::co_spawn(loop.get_executor(), keep_outcome(std::move(work), &out), boost::asio::detached);
  loop.run();
  return out;
}

}  // namespace binnacle::cli
