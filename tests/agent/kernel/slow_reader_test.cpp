#include "agent/kernel/slow_reader.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

namespace slow_reader_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;

namespace {

/// A job that is stuck until the test releases it, like the read of a dead drive.
struct stuck_job {
  std::promise<void> begun, release;

  std::function<void()> job() {
    return [this, gate = std::make_shared<std::shared_future<void>>(release.get_future().share())] {
      begun.set_value();
      gate->wait();
    };
  }
};

}  // namespace

TEST_SUITE_BEGIN("agent/kernel/slow_reader");

TEST_CASE("jobs run one after another on a thread that is not ours") {
  slow_reader reader;
  CHECK(reader.threads() == 0);
  std::vector<int> order;
  std::thread::id where;
  for (const int i : {1, 2, 3}) {
    reader.run([&, i] {
      order.push_back(i);
      where = std::this_thread::get_id();
    });
  }
  REQUIRE(reader.wait(10s));
  CHECK(order == std::vector{1, 2, 3});
  CHECK(where != std::this_thread::get_id());
  CHECK(reader.threads() == 1);
}

TEST_CASE("a stuck job keeps its thread, the others get another one once it is known to be stuck") {
  slow_reader reader({.patience = 5s, .most_threads = 2});
  instant now{1h};
  stuck_job one, two;
  reader.run(one.job());
  one.begun.get_future().wait();
  std::atomic<bool> done = false;
  reader.run([&] { done = true; });
  reader.tend(now);
  now += 5s;
  reader.tend(now);
  CHECK(reader.threads() == 1);
  now += 1s;
  reader.tend(now);
  CHECK(reader.threads() == 2);
  CHECK_FALSE(reader.wait(0s));
  while (!done) std::this_thread::yield();

  // There are no more threads than the bound, however many jobs are stuck.
  reader.run(two.job());
  two.begun.get_future().wait();
  std::atomic<bool> late = false;
  reader.run([&] { late = true; });
  for (int i = 0; i < 5; ++i) {
    reader.tend(now);
    now += 6s;
  }
  CHECK(reader.threads() == 2);
  CHECK_FALSE(late);
  one.release.set_value();
  two.release.set_value();
  CHECK(reader.wait(10s));
  CHECK(late);
}

TEST_CASE("ending does not wait for what is stuck") {
  auto reader = std::make_unique<slow_reader>();
  auto stuck = std::make_shared<stuck_job>();
  auto begun = stuck->begun.get_future();
  reader->run([stuck, job = stuck->job()] { job(); });
  begun.wait();
  reader.reset();
  stuck->release.set_value();
}

TEST_SUITE_END();

}  // namespace slow_reader_test
