#include "common/http/sliced.hpp"

#include "tests/support/whole.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace binnacle;

struct counting final : http::slices {
  int& steps;
  explicit counting(int& s) : steps(s) {}
  bool step() override { return ++steps < 3; }
  http::response take() override { return http::response::text("done"); }
};

TEST_SUITE("common/http/sliced") {
  TEST_CASE("each step waits its turn on the loop, then the answer is given once") {
    std::vector<std::function<void()>> waiting;
    int steps = 0, answers = 0;
    auto x = http::run_sliced(std::make_unique<counting>(steps),
                              [&](std::function<void()> f) { waiting.push_back(std::move(f)); });
    x->finish([&](http::response r) {
      ++answers;
      CHECK(r.body.at(0) == "done");
    });
    CHECK(steps == 1);
    CHECK(answers == 0);
    waiting.at(0)();
    CHECK(steps == 2);
    waiting.at(1)();
    CHECK(steps == 3);
    CHECK(answers == 1);
    CHECK(waiting.size() == 2);
  }

  TEST_CASE("a peer that goes away ends the work") {
    std::vector<std::function<void()>> waiting;
    int steps = 0, answers = 0;
    auto x = http::run_sliced(std::make_unique<counting>(steps),
                              [&](std::function<void()> f) { waiting.push_back(std::move(f)); });
    x->finish([&](http::response) { ++answers; });
    x.reset();
    waiting.at(0)();
    CHECK(steps == 1);
    CHECK(answers == 0);
  }

  TEST_CASE("work counts as running until it is gone, and one caller has half of the places") {
    const http::slices_running running{4};
    auto first = running.count("ann", http::ready(http::response::text("a")));
    CHECK_FALSE(running.full("ann"));
    const auto second = running.count("ann", http::ready(http::response::text("b")));
    CHECK(running.full("ann"));
    CHECK_FALSE(running.full("bob"));
    CHECK_FALSE(running.full(""));
    CHECK(support::whole(*second).body.at(0) == "b");
    CHECK(running.full("ann"));
    const auto third = running.count("bob", http::ready(http::response::text("c")));
    const auto fourth = running.count("", http::ready(http::response::text("d")));
    CHECK(running.full("eve"));
    const http::response refused = http::slices_running::refusal(http::response::failure);
    CHECK(refused.status == 503);
    CHECK(refused.headers.at(0) == std::pair<std::string, std::string>("Retry-After", "1"));
    first.reset();
    CHECK_FALSE(running.full("eve"));
    CHECK_FALSE(running.full("ann"));
  }

  TEST_CASE("work that waits for a place is not made before, and goes on when one is free") {
    const http::slices_running running(4);  // two for one caller
    std::deque<int> steps;                  // of each that was made
    const auto make = [&] { return std::make_unique<counting>(steps.emplace_back(0)); };
    std::vector<std::unique_ptr<http::slices>> work;
    for (int i = 0; i < 3; ++i) work.push_back(running.wait("a", make));
    work.push_back(running.wait("b", make));
    CHECK(steps.empty());
    for (const auto& one : work) CHECK(one->step());
    CHECK(steps.size() == 3);
    CHECK(work[2]->step());
    CHECK(steps.size() == 3);
    work[0].reset();
    CHECK(support::whole(*work[2]).body.at(0) == "done");
    CHECK(steps.size() == 4);
  }
}

}  // namespace
