#include "common/async/turnstile.hpp"

#include "common/async/task_group.hpp"
#include "tests/support/net/run.hpp"
#include "tests/support/numbered_network.hpp"

#include <doctest/doctest.h>

#include <string>

namespace turnstile_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using async::task;
using support::numbered;

const logger quiet("test", log_level::off);

task<void> work(async::turnstile& turns, std::string& log, char name, network from = {}) {
  co_await turns.pass(from);
  log.push_back(name);
}

task<void> small_work(async::loop& loop, std::string& log, int times) {
  async::event never_notified(loop);
  for (int i = 0; i < times; ++i) {
    log.push_back('.');
    co_await never_notified.wait(async::within(0ns));
  }
}

TEST_SUITE("common/async/turnstile") {
  TEST_CASE("costly work goes through one at a time, in order, and others get their turns between") {
    support::run([](async::loop& loop) -> task<void> {
      async::turnstile turns(loop);
      async::task_group group(loop, quiet);
      std::string log;
      group.spawn("small", small_work(loop, log, 20));
      for (const char name : {'a', 'b', 'c', 'd'}) group.spawn("costly", work(turns, log, name));
      co_await group.wait();
      std::string order;
      for (const char c : log) {
        if (c != '.') order.push_back(c);
      }
      CHECK(order == "abcd");
      CAPTURE(log);
      for (const char* together : {"bc", "cd"}) CHECK(log.find(together) == std::string::npos);
      CHECK(turns.waiting() == 0);
    });
  }

  TEST_CASE("networks take turns: a crowd from one place delays a caller from another by one") {
    support::run([](async::loop& loop) -> task<void> {
      async::turnstile turns(loop);
      async::task_group group(loop, quiet);
      std::string log;
      for (int i = 0; i < 100; ++i) group.spawn("crowd", work(turns, log, 'x', numbered(2)));
      for (const char name : {'a', 'b'}) group.spawn("one", work(turns, log, name, numbered(1)));
      group.spawn("another", work(turns, log, 'c', numbered(3)));
      co_await group.wait();
      CHECK(log.size() == 103);
      CHECK(log.find('a') <= 3);
      CHECK(log.find('c') <= 3);
      CHECK(log.find('b') <= 6);
      CHECK(log.find('a') < log.find('b'));
      CHECK(turns.waiting() == 0);
    });
  }

  TEST_CASE("who is cancelled while waiting leaves the queue, and the next one gets through") {
    support::run([](async::loop& loop) -> task<void> {
      async::turnstile turns(loop);
      async::task_group given_up(loop, quiet);
      async::task_group group(loop, quiet);
      std::string log;
      group.spawn("first", work(turns, log, 'a'));
      group.spawn("second", work(turns, log, 'b'));
      given_up.spawn("third", work(turns, log, 'c'));
      group.spawn("fourth", work(turns, log, 'd'));
      given_up.cancel();
      co_await given_up.wait();
      co_await group.wait();
      CHECK(log == "abd");
      const network anywhere;
      co_await turns.pass(anywhere);  // newcomers still get through
    });
  }
}

}  // namespace

}  // namespace turnstile_test
