#include "tests/support/net/run.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <stdexcept>

namespace binnacle::support {

void run(const std::function<async::task<void>(async::loop&)>& body, std::chrono::seconds limit) {
  async::loop loop;
  std::exception_ptr failed;
  auto ended = [&failed](std::exception_ptr why) { failed = why; };
  boost::asio::co_spawn(loop, body(loop), ended);
  loop.run_for(limit);
  if (failed) std::rethrow_exception(failed);
  if (!loop.stopped()) throw std::runtime_error("the test's coroutines did not end in time");
}

}  // namespace binnacle::support
