#include "aggregator/model_servers/asker.hpp"
#include "tests/aggregator/model_servers/asker_world.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace asker_calls_test {

using namespace binnacle;
using namespace binnacle::model_servers;
using namespace binnacle::model_servers::test;

namespace {

std::string server(const char* prefix, std::size_t i) { return fmt::format("{}{:04}:1", prefix, i); }

void answer(world& w, const asker::call& c) {
  w.it.answered(c, heard(c.for_metadata() ? says(404, "") : watts(c), c), w.now);
}

/// Has these servers refuse their connections, until each of them is known to be ill.
void make_ill(world& w, std::size_t servers) {
  for (std::size_t i = 0; i < servers; ++i) (void)w.it.want(about(server("ill", i), "pc"), w.now);
  for (auto calls = w.next(); !calls.empty(); calls = w.next())
    for (const auto& c : calls) w.it.answered(c, error{errc::disconnected, "connection refused"}, w.now);
}

}  // namespace

TEST_SUITE("aggregator/model_servers/asker/calls") {
  TEST_CASE("defect: as many calls went out at once as there were servers, and their answers came at once") {
    world w;
    constexpr std::size_t servers = 30;
    for (std::size_t i = 0; i < servers; ++i) (void)w.it.want(about(server("h", i), "pc"), w.now);
    auto calls = w.it.next(w.now);
    CHECK(calls.size() == asker::most_calls);
    CHECK(w.it.next(w.now).empty());
    // An answer makes room for one call.
    std::size_t curves = 0;
    while (!calls.empty()) {
      const auto c = calls.front();
      calls.erase(calls.begin());
      answer(w, c);
      curves += c.for_metadata() ? 0 : 1;
      for (auto& one : w.it.next(w.now)) calls.push_back(std::move(one));
      CHECK(calls.size() <= asker::most_calls);
    }
    CHECK(curves == servers);
  }

  TEST_CASE("servers that have waited for the longest time go first, and one that was asked goes behind") {
    world w;
    for (std::size_t i = 0; i < asker::most_calls; ++i)
      (void)w.it.want(about(server("busy", i), "pc"), w.now);
    const auto busy = w.it.next(w.now);
    REQUIRE(busy.size() == asker::most_calls);
    std::vector<std::string> order;
    for (const char* const name : {"z:1", "a:1", "m:1"}) {
      w.pass(1s);
      (void)w.it.want(about(name, "pc"), w.now);
      CHECK(w.it.next(w.now).empty());
    }
    for (std::size_t i = 0; i < 4; ++i) {
      w.pass(1s);
      answer(w, busy[i]);
      for (const auto& c : w.it.next(w.now)) order.push_back(c.about.model.server());
    }
    CHECK(order == std::vector<std::string>{"z:1", "a:1", "m:1", "busy0000:1"});
  }

  TEST_CASE("servers that are ill have half of the calls, so that others have theirs at once") {
    world w;
    make_ill(w, 100);
    w.pass(1min);
    auto calls = w.next();
    REQUIRE(calls.size() == asker::most_calls / 2);
    // A model that takes one load at a time needs a hundred calls, while no silent server has answered.
    const question well = about("well:1", "pc");
    std::size_t asked = 0;
    for (int i = 0; i < 1000 && w.it.want(well, w.now) == nullptr; ++i) {
      for (const auto& c : w.next()) {
        CHECK(c.about == well);
        ++asked;
        w.it.answered(c, heard(c.count > 1 ? says(400, "") : watts(c), c), w.now);
      }
    }
    CHECK(asked == 6 + points);
    // The silent ones take turns among themselves.
    std::vector<std::string> all;
    while (!calls.empty()) {
      for (const auto& c : std::exchange(calls, {})) {
        all.push_back(c.about.model.server());
        w.it.answered(c, error{errc::timeout, "no answer in 500 ms"}, w.now);
      }
      calls = w.next();
      CHECK(calls.size() <= asker::most_calls / 2);
    }
    std::ranges::sort(all);
    CHECK(all.size() == 100);
    CHECK(std::ranges::adjacent_find(all) == all.end());
  }

  TEST_CASE("a thousand servers that answer as late as they may are asked long before they are due again") {
    world w;
    constexpr std::size_t servers = 1000;
    for (std::size_t i = 0; i < servers; ++i) (void)w.it.want(about(server("h", i), "pc"), w.now);
    const instant begin = w.now;
    std::size_t curves = 0;
    for (auto calls = w.it.next(w.now); !calls.empty(); calls = w.it.next(w.now)) {
      w.pass(500ms);
      for (const auto& c : calls) {
        answer(w, c);
        curves += c.for_metadata() ? 0 : 1;
      }
    }
    CHECK(curves == servers);
    CHECK(w.now - begin == 125s);
    CHECK(w.it.troubles().empty());
  }

  TEST_CASE("a server that waits for its turn for 15 minutes is said to have no curve for that long") {
    world w;
    for (std::size_t i = 0; i < asker::most_calls; ++i)
      (void)w.it.want(about(server("busy", i), "pc"), w.now);
    REQUIRE(w.it.next(w.now).size() == asker::most_calls);
    const question waits = about("waits:1", "pc");
    for (const instant until = w.now + asker::asked_again_after; w.now <= until; w.pass(1min)) {
      CHECK(w.it.trouble(waits).empty());
      (void)w.it.want(waits, w.now);
      CHECK(w.it.next(w.now).empty());
    }
    CHECK(w.it.trouble(waits) == "the curves that it is asked for take more than 15 minutes");
  }
}

}  // namespace asker_calls_test
