#include "common/async/task_group.hpp"

#include "common/async/follow_files.hpp"
#include "common/async/timeout.hpp"
#include "common/async/timers.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/net/run.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace task_group_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using async::task;
using async::within;

const logger quiet("test", log_level::off);

struct counts_its_end {
  explicit counts_its_end(int& n) : n_(n) {}
  counts_its_end(const counts_its_end&) = delete;
  ~counts_its_end() { ++n_; }
  int& n_;
};

task<void> sleep_long(int& ended) {
  const counts_its_end on_exit(ended);
  for (;;) co_await async::sleep_for(1h);
}

task<void> fail_at_once() {
  throw std::runtime_error("as the test wants");
  co_return;
}

task<result<int>> answer_after(std::chrono::milliseconds span) {
  co_await async::sleep_for(span);
  co_return 42;
}

task<void> wait_for(async::event& it, bool& woken) { woken = co_await it.wait(within(5s)); }

TEST_SUITE("common/async") {
  TEST_CASE("cancel ends every coroutine of a group, and wait sees it") {
    support::run([](async::loop& loop) -> task<void> {
      int ended = 0;
      async::task_group group(loop, quiet);
      for (int i = 0; i < 3; ++i) group.spawn("sleeper", sleep_long(ended));
      CHECK_FALSE(co_await group.wait(within(10ms)));
      CHECK(group.size() == 3);
      group.cancel();
      CHECK(co_await group.wait(within(5s)));
      CHECK(ended == 3);
    });
  }

  TEST_CASE("an exception ends its coroutine only") {
    support::run([](async::loop& loop) -> task<void> {
      int ended = 0;
      async::task_group group(loop, quiet);
      group.spawn("sleeper", sleep_long(ended));
      group.spawn("broken", fail_at_once());
      co_await async::sleep_for(5ms);
      CHECK(group.size() == 1);
      group.cancel();
      co_await group.wait();
    });
  }

  TEST_CASE(
      "what is kept begins again after an exception, ends when it is cancelled, and is over when it "
      "returns") {
    support::run([](async::loop& loop) -> task<void> {
      int begun = 0;
      async::task_group group(loop, quiet);
      const std::function<task<void>()> twice_broken = [&begun] {
        return ++begun < 3 ? fail_at_once() : async::sleep_for(1h);
      };
      group.keep("broken twice", twice_broken);
      while (begun < 3) co_await async::sleep_for(1ms);
      CHECK(group.size() == 1);
      group.cancel();
      CHECK(co_await group.wait(within(60s)));
      CHECK(begun == 3);
      const std::function<task<void>()> short_one = [] { return async::sleep_for(1ms); };
      group.keep("short", short_one);
      CHECK(co_await group.wait(within(60s)));
    });
  }

  TEST_CASE("with_timeout gives the result in time and an error after it") {
    support::run([](async::loop&) -> task<void> {
      auto quick = co_await async::with_timeout(answer_after(1ms), within(5s), "the answer");
      REQUIRE(quick.has_value());
      CHECK(*quick == 42);
      auto slow = co_await async::with_timeout(answer_after(1h), within(5ms), "the answer");
      REQUIRE(slow.has_error());
      CHECK(slow.error().code == errc::timeout);
      CHECK(slow.error().message == "the answer took too long");
    });
  }

  TEST_CASE("a periodic timer counts the ticks it missed and keeps its beat") {
    support::run([](async::loop& loop) -> task<void> {
      async::periodic_timer timer(loop, 20ms);
      const auto start = std::chrono::steady_clock::now();
      CHECK(co_await timer.next() == 0);
      std::this_thread::sleep_for(75ms);  // a loop that is held up, as by a slow source
      const auto missed = co_await timer.next();
      CHECK(missed >= 2);
      CHECK(std::chrono::steady_clock::now() - start >= 20ms * (2 + missed));
      co_await timer.next();
      CHECK(std::chrono::steady_clock::now() - start >= 20ms * (3 + missed));
    });
  }

  TEST_CASE("an event wakes its waiter, and a notify before the wait counts once") {
    support::run([](async::loop& loop) -> task<void> {
      async::event it(loop);
      it.notify();
      it.notify();
      CHECK(co_await it.wait(within(0ms)));
      CHECK_FALSE(co_await it.wait(within(1ms)));
      bool woken = false;
      async::task_group group(loop, quiet);
      group.spawn("waiter", wait_for(it, woken));
      co_await async::sleep_for(2ms);
      it.notify();
      co_await group.wait(within(5s));
      CHECK(woken);
    });
  }

  TEST_CASE("changed certificate files are taken over while a loop runs, broken ones are not") {
    support::temp_folder dir;
    support::authority ca(dir, "ca");
    tls::options o;
    o.side = tls::role::server;
    o.pem = ca.issue_server();
    const std::shared_ptr<tls::context> context = tls::context::load(o).value();
    support::run([&](async::loop& loop) -> task<void> {
      async::task_group group(loop, quiet);
      const auto troubles = std::make_shared<async::reload_troubles>();
      group.spawn("follow",
                  async::follow_files(context, "test certificate", quiet, std::chrono::seconds(0), troubles));
      const auto first = context->current();
      ca.issue_server();
      while (context->current() == first) co_await async::sleep_for(1ms);
      const auto second = context->current();
      CHECK(troubles->empty());
      support::write_file(o.pem.key, "broken");
      while (troubles->empty()) co_await async::sleep_for(1ms);
      CHECK(troubles->at("test certificate").starts_with("test certificate: "));
      CHECK(context->current() == second);
      ca.issue_server();
      while (!troubles->empty()) co_await async::sleep_for(1ms);
      CHECK(context->current() != second);
      group.cancel();
      co_await group.wait();
    });
  }

  TEST_CASE("a file that stays broken is told once, however often it is written") {
    support::temp_folder dir;
    support::authority ca(dir, "ca");
    tls::options o;
    o.side = tls::role::server;
    o.pem = ca.issue_server();
    const std::shared_ptr<tls::context> context = tls::context::load(o).value();
    std::vector<std::string> said;
    const logger log("test", log_level::info, [&said](std::string_view line) { said.emplace_back(line); });
    support::run([&](async::loop& loop) -> task<void> {
      async::task_group group(loop, quiet);
      group.spawn("follow", async::follow_files(context, "test certificate", log, std::chrono::seconds(0)));
      for (const int size : {6, 7, 8}) {
        support::write_file(o.pem.key, std::string(static_cast<std::size_t>(size), 'x'));
        while (said.empty()) co_await async::sleep_for(1ms);
        co_await async::sleep_for(20ms);
      }
      CHECK(said.size() == 1);
      ca.issue_server();
      while (said.size() == 1) co_await async::sleep_for(1ms);
      CHECK(said.back().find("taken over") != std::string::npos);
      support::write_file(o.pem.key, "broken");
      while (said.size() == 2) co_await async::sleep_for(1ms);
      CHECK(said.back().find("stays in force") != std::string::npos);
      group.cancel();
      co_await group.wait();
    });
  }

  TEST_CASE("an expired certificate is logged once, with its date") {
    support::temp_folder dir;
    support::authority ca(dir, "ca");
    support::wanted ended;
    ended.common_name = "s";
    ended.valid_from = -7200;
    ended.valid_to = -3600;
    tls::options o;
    o.side = tls::role::server;
    o.pem = ca.issue("server", ended);
    const std::shared_ptr<tls::context> context = tls::context::load(o).value();
    std::vector<std::string> said;
    const logger log("test", log_level::info, [&said](std::string_view line) { said.emplace_back(line); });
    support::run([&](async::loop& loop) -> task<void> {
      async::task_group group(loop, quiet);
      group.spawn("follow", async::follow_files(context, "test certificate", log, std::chrono::seconds(0)));
      co_await async::sleep_for(20ms);
      group.cancel();
      co_await group.wait();
    });
    REQUIRE(said.size() == 1);
    CHECK(said[0].find("error test: test certificate: certificate \"s\" ended on 20") != std::string::npos);
  }

  TEST_CASE("work posted from another thread runs on the loop's thread") {
    async::loop loop;
    std::thread::id ran_on;
    std::thread other([&] { async::post(loop, [&] { ran_on = std::this_thread::get_id(); }); });
    other.join();
    async::run(loop, quiet);
    CHECK(ran_on == std::this_thread::get_id());
  }

  TEST_CASE("SIGTERM, SIGINT and SIGHUP are awaited instead of ending the process") {
    std::signal(SIGHUP, SIG_DFL);  // needed if the test runs under nohup
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
      support::run([number](async::loop& loop) -> task<void> {
        auto raise_later = [number] { std::raise(number); };
        async::steady_timer timer(loop, 5ms);
        timer.async_wait([raise_later](boost::system::error_code) { raise_later(); });
        CHECK(co_await async::stop_signal() == number);
      });
    }
  }

  TEST_CASE("SIGHUP stays ignored under nohup") {
    std::signal(SIGHUP, SIG_IGN);
    support::run([](async::loop& loop) -> task<void> {
      auto raise_later = [] {
        std::raise(SIGHUP);
        std::raise(SIGTERM);
      };
      async::steady_timer timer(loop, 5ms);
      timer.async_wait([raise_later](boost::system::error_code) { raise_later(); });
      CHECK(co_await async::stop_signal() == SIGTERM);
    });
    std::signal(SIGHUP, SIG_DFL);
  }
}

}  // namespace

}  // namespace task_group_test
