// The loop of binnacle top: asks the aggregators, reads keys, draws.
#include "cli/top/watch.hpp"

#include "cli/top/curses.hpp"
#include "cli/top/session.hpp"
#include "cli/upstream.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/clock.hpp"
#include "common/http/target.hpp"

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <ostream>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace binnacle::cli::top {
namespace {

using async::task;
using namespace std::chrono_literals;

using descriptor = boost::asio::posix::basic_stream_descriptor<async::executor>;
using signals = boost::asio::basic_signal_set<async::executor>;

std::int64_t now_ms() {
  const auto now = boot_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

class watcher {
 public:
  watcher(async::loop& loop, upstream from, curses& screen, const top_arguments& what)
      : loop_(loop),
        from_(std::move(from)),
        screen_(screen),
        state_(what.metrics, screen.utf8()),
        target_(nodes_target(what.metrics)),
        asked_(loop),
        labels_asked_(loop),
        keys_(loop, ::dup(screen.keyboard())),
        resizes_(loop, SIGWINCH),
        ends_(loop, SIGQUIT),
        group_(loop, logger("top", log_level::error)) {
    state_.resize(screen.width(), screen.height());
  }

  /// Signals are handled first: as soon as the page is visible, somebody may send a signal, and the terminal
  /// must then be restored.
  void start() {
    group_.spawn("signals", await_signal());
    group_.spawn("quit", await_quit());
    group_.spawn("clock", tick());
    group_.spawn("nodes", ask_nodes());
    group_.spawn("policies", ask_policies());
    group_.spawn("labels", ask_labels());
    if (from_.size() > 1) group_.spawn("replicas", ask_replicas());
    group_.spawn("keys", read_keys());
    group_.spawn("resizes", follow_size());
  }

 private:
  void draw() { screen_.show(state_.draw(now_ms())); }
  /// Stops the loop at once. If it only cancelled the coroutines, the timer of a kept connection would go on
  /// for seconds, and the terminal would still show the page.
  void end() { loop_.stop(); }

  task<void> ask_nodes() {
    std::size_t nodes = 0;
    for (;;) {
      const auto due = std::chrono::steady_clock::now();
      const auto told = co_await from_.ask_one(target_);
      if (told.said.has_value()) {
        state_.take_nodes(told.said->json, told.url, now_ms());
        nodes = list(told.said->json, "nodes").size();
      } else {
        state_.miss(told.said.error().message);
      }
      draw();
      const auto next = due + upstream::pause_between_lists(told.said.has_value() ? nodes : 0);
      co_await async::sleep_for(next - std::chrono::steady_clock::now());
    }
  }

  task<void> ask_policies() {
    for (;;) {
      co_await asked_.wait(state_.wants_policies() ? async::within(2s) : async::never);
      if (!state_.wants_policies()) continue;
      const auto told = co_await from_.ask_one("/api/v1/policies");
      if (told.said.has_value() && state_.wants_policies()) state_.take_policies(told.said->json);
      draw();
    }
  }

  /// Asks for labels only while nodes are grouped or filtered by one, and seldom: racks hardly change, and
  /// each answer costs the aggregator a walk over the labels of all nodes.
  task<void> ask_labels() {
    std::map<std::string, async::deadline> due;  // when each key is asked for next
    for (;;) {
      const auto wanted = state_.wanted_labels();
      std::erase_if(due, [&](const auto& d) { return std::ranges::find(wanted, d.first) == wanted.end(); });
      async::deadline next = async::never;
      for (const std::string& key : wanted) {
        if (!due.contains(key) || due[key] <= std::chrono::steady_clock::now()) {
          const auto told = co_await from_.ask_one(labels_target(key));
          if (told.said.has_value()) {
            state_.take_labels(key, told.said->json);
          } else {
            state_.miss_labels(told.said.error().message);
          }
          due[key] = async::within(20s);
          draw();
        }
        next = std::min(next, due[key]);
      }
      // Once the keys are known, further keys may be wanted: then the loop goes on at once.
      if (state_.wanted_labels() == wanted) co_await labels_asked_.wait(next);
    }
  }

  /// Watches whether each replica answers, so that the page can say which one is away. ask_nodes() needs no
  /// help: it goes on with another replica by itself.
  task<void> ask_replicas() {
    for (;;) {
      const auto all = co_await from_.ask_each("/api/v1/status");
      std::vector<replica> known;
      for (const auto& t : all)
        known.push_back({t.url, t.said.has_error() ? t.said.error().message : std::string()});
      state_.take_replicas(std::move(known));
      draw();
      co_await async::sleep_for(2s);
    }
  }

  task<void> read_keys() {
    for (;;) {
      const auto [failed] = co_await keys_.async_wait(descriptor::wait_read, async::use_task);
      int waiting = 0;
      // A terminal that has gone counts as readable for ever, but has no bytes to read.
      const bool gone = failed || ::ioctl(screen_.keyboard(), FIONREAD, &waiting) != 0 || waiting == 0;
      while (const auto pressed = gone ? std::nullopt : screen_.next()) state_.handle(*pressed);
      if (gone || state_.done()) {
        end();
        co_return;
      }
      if (state_.wants_policies()) asked_.notify();
      labels_asked_.notify();
      draw();
    }
  }

  task<void> follow_size() {
    for (;;) {
      const auto [failed, number] = co_await resizes_.async_wait(async::use_task);
      if (failed) co_return;
      screen_.resized();
      state_.resize(screen_.width(), screen_.height());
      draw();
    }
  }

  task<void> await_signal() {
    co_await async::stop_signal();
    end();
  }

  task<void> await_quit() {
    const auto [failed, number] = co_await ends_.async_wait(async::use_task);
    if (!failed) end();
  }

  /// Draws again between two answers, because ages grow.
  task<void> tick() {
    for (;;) {
      draw();
      co_await async::sleep_for(1s);
    }
  }

  async::loop& loop_;
  upstream from_;
  curses& screen_;
  session state_;
  const std::string target_;
  async::event asked_, labels_asked_;
  descriptor keys_;
  signals resizes_, ends_;
  async::task_group group_;  // last: its coroutines use all of the above
};

}  // namespace

int watch(const connection& to, const top_arguments& what, const terminal& on) {
  const auto complain = [&](const error& e) {
    on.err << "binnacle: " << e.message << '\n';
    return static_cast<int>(exit_problem);
  };
  auto from = upstream::open(to);
  if (from.has_error()) return complain(from.error());
  auto screen = curses::open(on.with.on);
  if (screen.has_error()) return complain(screen.error());
  async::loop loop(1);
  watcher all(loop, std::move(*from), **screen, what);
  all.start();
  async::run(loop, logger("top", log_level::error));
  return exit_ok;
}

}  // namespace binnacle::cli::top
