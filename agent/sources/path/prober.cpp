#include "agent/sources/path/prober.hpp"

#include "common/async/resolve.hpp"
#include "common/async/stream.hpp"
#include "common/async/timeout.hpp"
#include "common/system/os_error.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>

namespace binnacle::agent {

namespace asio = boost::asio;
using async::task;
using steady = std::chrono::steady_clock;

namespace {

constexpr auto names_are_good_for = std::chrono::minutes(1);
constexpr auto names_are_tried_again = std::chrono::seconds(10);
constexpr int most_at_a_turn = 64;  // packets in a row, before other coroutines run

}  // namespace

prober::prober(path_peer peer, duration timeout, clocks time)
    : peer_(std::move(peer)), timeout_(timeout), time_(std::move(time)) {}

task<path_outcome> prober::once(std::shared_ptr<prober> self) {
  const auto until = async::within(self->timeout_);
  path_outcome out;
  const auto known = co_await self->look_up(until);
  if (known.has_error()) {
    out.when = self->time_.now();
    out.why = known.error();
    co_return out;
  }
  const auto to = self->addresses_[self->next_ % self->addresses_.size()];
  const auto ex = co_await asio::this_coro::executor;
  if (const auto ready = self->open_echo(to, ex); ready.has_error()) {
    out.when = self->time_.now();
    out.why = ready.error();
    co_return out;
  }
  auto attempt = self->peer_.icmp ? self->echo() : self->connect(to);
  auto answer = co_await async::with_timeout(std::move(attempt), until, "an answer");
  out.sent = true;
  out.when = self->time_.now();
  if (answer.has_value()) {
    out.round_trip = *answer;
    co_return out;
  }
  out.why = {
      answer.error().code,
      fmt::format("{}: {}", self->peer_.icmp ? to.address().to_string() : async::to_string(to),
                  answer.error().code == errc::timeout ? "no answer in time" : answer.error().message)};
  ++self->next_;
  co_return out;
}

task<result<void>> prober::look_up(async::deadline until) {
  if (steady::now() < look_up_again_ && !addresses_.empty()) co_return result<void>();
  auto found = co_await async::resolve(peer_.at.host, peer_.at.port, until);
  if (found.has_error()) {
    look_up_again_ = async::within(names_are_tried_again);
    // If the resolver is down, go on with the addresses that are known.
    if (!addresses_.empty()) co_return result<void>();
    co_return found.error();
  }
  look_up_again_ = async::within(names_are_good_for);
  if (*found != addresses_) {
    addresses_ = std::move(*found);
    next_ = 0;
  }
  co_return result<void>();
}

task<result<duration>> prober::connect(async::tcp::endpoint to) {
  const auto ex = co_await asio::this_coro::executor;
  async::tcp_socket socket(ex);
  const auto begun = steady::now();
  auto [ec] = co_await socket.async_connect(to, async::use_task);
  const duration took = steady::now() - begun;
  if (ec) co_return error{errc::disconnected, ec.message()};
  co_return took;
}

result<void> prober::open_echo(const async::tcp::endpoint& to, const async::executor& on) {
  if (!peer_.icmp || (echo_ && echo_to_ == to)) return {};
  readable_.reset();
  auto opened = echo_socket::open(to.data(), static_cast<socklen_t>(to.size()));
  if (!opened) return opened.error();
  echo_ = std::move(*opened);
  echo_to_ = to;
  const int handle = ::fcntl(echo_->fd(), F_DUPFD_CLOEXEC, 0);
  if (handle < 0) {
    const int why = errno;
    echo_.reset();
    return error{errc::io, "no descriptor to wait for the echo with: " + describe(why)};
  }
  readable_.emplace(on, handle);
  return {};
}

task<result<duration>> prober::echo() {
  const auto ex = co_await asio::this_coro::executor;
  const auto sequence = ++sequence_;
  const auto begun = steady::now();
  if (const auto sent = echo_->send(sequence); sent.has_error()) co_return sent.error();
  for (int taken = 1;; ++taken) {
    const auto came = echo_->take();
    if (came.has_error()) co_return came.error();
    if (!*came) {
      auto [ec] = co_await readable_->async_wait(waiter::wait_read, async::use_task);
      if (ec) co_return error{errc::io, ec.message()};
    } else if (**came == sequence) {
      co_return duration(steady::now() - begun);
    } else if (taken % most_at_a_turn == 0) {
      co_await asio::post(ex, async::use_task);
    }
  }
}

}  // namespace binnacle::agent
