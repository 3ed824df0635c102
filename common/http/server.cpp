#include "common/http/server.hpp"

#include "common/async/listener.hpp"
#include "common/http/connection.hpp"

#include <optional>
#include <utility>

namespace binnacle::http {

using async::task;

struct server::impl : server_core {
  using server_core::server_core;
  std::optional<async::listener> door;
};

namespace {

task<void> accept_loop(std::shared_ptr<server_core> core, async::listener& door) {
  for (;;) {
    auto accepted = co_await door.accept();
    if (accepted.has_error()) co_return;
    if (core->seats.is_full() && !make_room(*core, place_of(*accepted))) {
      ++core->counters.rejected;
      continue;  // this closes the connection
    }
    ++core->counters.accepted;
    core->group.spawn(core->options.name + " connection", serve(core, std::move(*accepted)));
  }
}

task<void> finish_stop(std::shared_ptr<server_core> core, std::chrono::milliseconds grace,
                       std::function<void()> done) {
  const bool all_ended = co_await core->group.wait(async::within(grace));  // named: COMMON_ERRORS.md 1
  if (!all_ended) {
    core->group.cancel();
    co_await core->group.wait(async::within(std::chrono::seconds(1)));
  }
  if (done) done();
}

}  // namespace

server::server(boost::asio::io_context& loop, server_options options, router routes, logger log)
    : impl_(std::make_shared<impl>(loop, std::move(options), std::move(routes), std::move(log))) {}

server::~server() {
  if (impl_->door) impl_->door->close();
  impl_->group.cancel();
  impl_->ending.cancel();
}

result<void> server::start() {
  auto door = async::listener::open(impl_->loop, impl_->options.address, impl_->options.port, impl_->log);
  if (door.has_error()) return error{door.error().code, impl_->options.name + ": " + door.error().message};
  impl_->door.emplace(std::move(*door));
  if (impl_->options.tls) {
    impl_->options.tls->on_reload([weak = std::weak_ptr(impl_)] {
      if (const auto self = weak.lock()) end_denied(*self);
    });
  }
  impl_->group.keep(impl_->options.name + " accept",
                    [self = impl_] { return accept_loop(self, *self->door); });
  return {};
}

std::uint16_t server::port() const noexcept { return impl_->door ? impl_->door->port() : 0; }
const server_counters& server::counters() const noexcept { return impl_->counters; }

void server::retire() noexcept { impl_->retiring = true; }

void server::stop(std::chrono::milliseconds grace, std::function<void()> done) {
  impl_->stopping = true;
  if (impl_->door) impl_->door->close();
  close_idle(*impl_);
  impl_->ending.spawn(impl_->options.name + " stop", finish_stop(impl_, grace, std::move(done)));
}

}  // namespace binnacle::http
