#include "tests/support/net/served.hpp"

#include "common/async/task_group.hpp"

#include <boost/asio/executor_work_guard.hpp>

#include <algorithm>
#include <future>
#include <optional>
#include <thread>

namespace binnacle::support {

struct served::impl {
  impl(http::router routes, http::server_options options)
      : work(loop.get_executor()), server(std::in_place, loop, std::move(options), std::move(routes), log) {}

  const logger log{"test", log_level::off};
  async::loop loop;
  boost::asio::executor_work_guard<async::executor> work;
  std::optional<http::server> server;
  std::thread thread;
};

served::served(http::router routes, http::server_options options) {
  options.address = "127.0.0.1";
  if (options.name.empty()) options.name = "test";
  impl_ = std::make_unique<impl>(std::move(routes), std::move(options));
  impl_->server->start().value();
  impl_->thread = std::thread([this] { async::run(impl_->loop, impl_->log); });
}

served::~served() {
  on_loop([this] { impl_->server.reset(); });
  impl_->work.reset();
  impl_->loop.stop();
  impl_->thread.join();
}

std::uint16_t served::port() const { return impl_->server->port(); }
http::server& served::server() { return *impl_->server; }
boost::asio::io_context& served::loop() { return impl_->loop; }

void served::on_loop(const std::function<void()>& work) {
  std::promise<void> done;
  async::post(impl_->loop, [&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

http::server_counters served::counters() {
  http::server_counters out;
  on_loop([&] { out = impl_->server->counters(); });
  return out;
}

std::uint64_t served::most_in_a_turn(std::uint64_t http::server_counters::*counter, std::uint64_t until,
                                     const std::function<void()>& begin) {
  std::uint64_t most = 0, before = 0;
  std::promise<void> reached;
  // Other work of the loop: it asks for another turn at once, each time.
  std::function<void()> other_work = [&] {
    const std::uint64_t now = impl_->server->counters().*counter;
    most = std::max(most, now - before);
    before = now;
    if (now >= until) return reached.set_value();
    async::post(impl_->loop, other_work);
  };
  on_loop([&] {
    before = impl_->server->counters().*counter;
    begin();
    async::post(impl_->loop, other_work);
  });
  reached.get_future().wait();
  return most;
}

}  // namespace binnacle::support
