#include "common/async/task_group.hpp"

#include "common/async/timers.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <list>
#include <utility>

namespace binnacle::async {

namespace asio = boost::asio;

namespace {

std::string sentence_of(const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an unknown exception";
  }
}

bool is_cancellation(const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const boost::system::system_error& e) {
    return e.code() == asio::error::operation_aborted;
  } catch (...) {
    return false;
  }
}

}  // namespace

struct task_group::state {
  struct child {
    std::string name;
    asio::cancellation_signal stop;
  };
  state(loop& on, logger l) : loop_(on), log(std::move(l)), emptied(on) {}

  void ended(std::list<child>::iterator which, const std::exception_ptr& why) {
    if (why) report(which->name, why);
    children.erase(which);
    if (children.empty()) emptied.notify();
  }

  void report(const std::string& name, const std::exception_ptr& why) const {
    if (!is_cancellation(why)) log.error("{} ended by an error: {}", name, sentence_of(why));
  }

  loop& loop_;
  logger log;
  std::list<child> children;
  event emptied;
};

task_group::task_group(loop& on, logger log) : state_(std::make_shared<state>(on, std::move(log))) {}
task_group::~task_group() {
  // A loop that has stopped never finishes its coroutines. While such a loop is destroyed, the sockets of its
  // coroutines are destroyed one after another. A cancellation could then touch a socket that no longer
  // exists.
  if (!state_->loop_.stopped()) cancel();
}

void task_group::spawn(std::string name, task<void> work) {
  state& s = *state_;
  s.children.emplace_back();
  const auto which = std::prev(s.children.end());
  which->name = std::move(name);
  auto ended = [held = state_, which](const std::exception_ptr& why) { held->ended(which, why); };
  asio::co_spawn(s.loop_, std::move(work),
                 asio::bind_cancellation_slot(which->stop.slot(), std::move(ended)));
}

namespace {

// The pause before a restart: a task that fails at once must not fill the log.
constexpr std::chrono::seconds before_another(1);

task<void> run_again(std::string name, std::function<task<void>()> make, logger log) {
  for (;;) {
    std::exception_ptr why;
    try {
      co_await make();
    } catch (...) {
      why = std::current_exception();
    }
    if (!why) co_return;
    if (is_cancellation(why)) std::rethrow_exception(why);
    log.error("the task '{}' failed and is started again: {}", name, sentence_of(why));
    co_await sleep_for(before_another);
  }
}

}  // namespace

void task_group::keep(std::string name, std::function<task<void>()> make) {
  task<void> work = run_again(name, std::move(make), state_->log);
  spawn(std::move(name), std::move(work));
}

void task_group::cancel() {
  for (auto& child : state_->children) child.stop.emit(asio::cancellation_type::terminal);
}

task<bool> task_group::wait(deadline until) {
  const auto held = state_;  // the group may go away while its waiter is being cancelled
  while (!held->children.empty()) {
    if (!co_await held->emptied.wait(until) && std::chrono::steady_clock::now() >= until)
      co_return held->children.empty();
  }
  co_return true;
}

std::size_t task_group::size() const noexcept { return state_->children.size(); }

void post(loop& to, std::function<void()> work) { asio::post(to, std::move(work)); }

void run(loop& it, const logger& log) {
  for (;;) {
    try {
      it.run();
      return;
    } catch (const std::exception& e) {
      log.error("an event handler failed: {}", e.what());
    }
  }
}

}  // namespace binnacle::async
