#include "common/async/beside.hpp"

#include "common/async/task.hpp"
#include "common/async/timers.hpp"
#include "tests/support/net/run.hpp"

#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>

namespace beside_test {

namespace {

using namespace binnacle;
using async::task;

TEST_SUITE("common/async/beside") {
  TEST_CASE(
      "the loop goes on while a piece of work is under way, and what follows runs on the loop, in order") {
    support::run(
        [](async::loop& loop) -> task<void> {
          std::promise<void> the_loop_went_on;
          async::beside thread(loop);
          async::event all(loop);
          std::string log;
          const auto here = std::this_thread::get_id();
          bool elsewhere = false;
          auto first = [&] {
            elsewhere = std::this_thread::get_id() != here;
            the_loop_went_on.get_future().wait();
          };
          auto after_first = [&] { log += std::this_thread::get_id() == here ? "1" : "?"; };
          auto after_second = [&] {
            log += std::this_thread::get_id() == here ? "2" : "?";
            all.notify();
          };
          thread.run(std::move(first), std::move(after_first));
          thread.run([] {}, std::move(after_second));
          co_await async::sleep_for(
              std::chrono::nanoseconds(0));  // lets the loop take a turn while the work waits
          CHECK(log.empty());
          the_loop_went_on.set_value();
          const bool done = co_await all.wait();
          CHECK(done);
          CHECK(log == "12");
          CHECK(elsewhere);
        },
        std::chrono::minutes(1));
  }

  TEST_CASE("at its end it waits for the piece under way, and keeps nothing") {
    support::run(
        [](async::loop& loop) -> task<void> {
          auto held = std::make_shared<int>(0);
          bool finished = false;
          {
            std::promise<void> begun, may_end;  // declared first: the thread may still use them at the end
            async::beside thread(loop);
            auto work = [&] {
              begun.set_value();
              may_end.get_future().wait();
              finished = true;
            };
            thread.run(std::move(work), [] {});
            thread.run([held] {}, [held] {});
            begun.get_future().wait();
            may_end.set_value();
          }
          CHECK(finished);
          // The next piece may have run just before the end, and its `then` waits on the loop: let the loop
          // run it.
          co_await async::sleep_for(std::chrono::nanoseconds(0));
          CHECK(held.use_count() == 1);
        },
        std::chrono::minutes(1));
  }
}

}  // namespace

}  // namespace beside_test
