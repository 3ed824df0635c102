#include "common/async/timers.hpp"

#include <boost/asio/basic_signal_set.hpp>
#include <boost/asio/this_coro.hpp>

#include <csignal>

namespace binnacle::async {

namespace asio = boost::asio;

task<void> wait_until(deadline until) {
  const auto ex = co_await asio::this_coro::executor;
  steady_timer timer(ex, until);
  co_await timer.async_wait(use_task);
}

task<void> sleep_for(std::chrono::nanoseconds span) { return wait_until(within(span)); }

periodic_timer::periodic_timer(loop& on, std::chrono::nanoseconds period)
    : timer_(on), period_(period), due_(std::chrono::steady_clock::now()) {}

task<std::uint64_t> periodic_timer::next() {
  due_ += period_;
  const auto behind = std::chrono::steady_clock::now() - due_;
  std::uint64_t missed = 0;
  if (behind >= period_) {
    missed = static_cast<std::uint64_t>(behind / period_);
    due_ += period_ * missed;
  }
  timer_.expires_at(due_);
  co_await timer_.async_wait(use_task);
  co_return missed;
}

void event::notify() {
  notified_ = true;
  timer_.cancel();
}

task<bool> event::wait(deadline until) {
  if (!notified_) {
    timer_.expires_at(until);
    co_await timer_.async_wait(use_task);
  }
  const bool woken = notified_;
  notified_ = false;
  co_return woken;
}

task<int> stop_signal() {
  const auto ex = co_await asio::this_coro::executor;
  asio::basic_signal_set<executor> signals(ex, SIGTERM, SIGINT);
  struct ::sigaction hangup {};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) signals.add(SIGHUP);
  auto [ec, number] = co_await signals.async_wait(use_task);
  co_return ec ? 0 : number;
}

const char* name_of_signal(int number) noexcept {
  return number == SIGTERM ? "SIGTERM" : number == SIGHUP ? "SIGHUP" : "SIGINT";
}

}  // namespace binnacle::async
