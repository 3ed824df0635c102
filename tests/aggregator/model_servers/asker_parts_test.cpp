#include "aggregator/model_servers/asker.hpp"
#include "tests/aggregator/model_servers/asker_world.hpp"

#include <vector>

namespace asker_parts_test {

using namespace binnacle;
using namespace binnacle::model_servers;
using namespace binnacle::model_servers::test;

TEST_SUITE("aggregator/model_servers/asker/parts") {
  TEST_CASE("a batch that a server refuses is halved, and the server's limit is remembered") {
    world w;
    const question q = about("h:1", "pc");
    constexpr std::size_t limit = 30;
    const auto ask_all = [&] {
      int calls = 0;
      for (;;) {
        (void)w.it.want(q, w.now);
        const auto now = w.next();
        if (now.empty()) return calls;
        ++calls;
        w.it.answered(
            now[0],
            heard(now[0].count > limit ? says(400, R"({"error":"batch-size must be <= 30"})") : watts(now[0]),
                  now[0]),
            w.now);
      }
    };
    CHECK(ask_all() == 2 + 5);  // 101 and 50 points are too many; then four calls of 25, and one of 1
    const auto known = w.it.want(q, w.now);
    REQUIRE(known != nullptr);
    CHECK(known->power.watts(10) == doctest::Approx(300));
    CHECK(count(w.it, call_outcome::halved) == 2);
    w.pass(asker::asked_again_after);
    CHECK(ask_all() == 5);
  }

  TEST_CASE("defect: a model that took one load at a time, and did not say so, was never asked for one") {
    for (const auto& to_more : {says(200, R"({"outputs":[{"name":"predict","data":[100]}]})"),
                                says(500, "Internal Server Error")}) {
      CAPTURE(to_more.status);
      world w;
      const question q = about("h:1", "pc");
      (void)w.it.want(q, w.now);
      std::size_t calls = 0;
      for (auto now = w.next(); !now.empty(); now = w.next(), ++calls)
        w.it.answered(now[0], heard(now[0].count > 1 ? to_more : watts(now[0]), now[0]), w.now);
      CHECK(calls == 6 + points);  // with 101, 50, 25, 12, 6 and 3 loads; then each of its own
      REQUIRE(w.it.want(q, w.now) != nullptr);
      CHECK(w.it.want(q, w.now)->power.watts(10) == doctest::Approx(300));
      CHECK(w.it.troubles().empty());
    }
  }

  TEST_CASE("a model that refuses every batch is left alone, and does not keep its server from others") {
    world w;
    const question bad = about("h:1", "bad"), good = about("h:1", "good");
    int calls_of_bad = 0;
    for (int i = 0; i < 50; ++i) {
      (void)w.it.want(bad, w.now);
      (void)w.it.want(good, w.now);
      for (const auto& c : w.next()) {
        const bool is_bad = c.about == bad;
        calls_of_bad += is_bad ? 1 : 0;
        w.it.answered(c, heard(is_bad ? says(400, R"({"error":"unexpected inference input"})") : watts(c), c),
                      w.now);
      }
    }
    CHECK(calls_of_bad == 7);  // with 101, 50, 25, 12, 6, 3 and 1 points
    CHECK(w.it.want(good, w.now) != nullptr);
    CHECK(w.it.want(bad, w.now) == nullptr);
    CHECK(w.it.trouble(bad).find("unexpected inference input") != std::string::npos);
    CHECK(w.it.trouble(good).empty());
    CHECK(w.it.troubles().size() == 1);
  }

  TEST_CASE(
      "a model that is slow with a whole curve gives it in parts, and its server's other models go on") {
    world w;
    const question slow = about("h:1", "slow"), other = about("h:1", "other");
    CHECK(w.curve(slow, 30) == 2 + 5);  // 101 and 50 points take too long; then 4 x 25 and 1
    const auto known = w.it.want(slow, w.now);
    REQUIRE(known != nullptr);
    CHECK(known->power.watts(10) == doctest::Approx(300));
    CHECK(w.it.troubles().empty());
    (void)w.it.want(about("h:1", "slower"), w.now);
    const auto late = w.next();
    REQUIRE(late.size() == 1);
    w.it.answered(late[0], error{errc::timeout, "no answer in 500 ms"}, w.now);
    CHECK(count(w.it, call_outcome::failed) == 0);
    CHECK(w.it.troubles().at(0).find("101 loads at once: no answer in 500 ms") != std::string::npos);
    CHECK_MESSAGE(w.curve(other, points) == 1, "the server is not left alone");
  }

  TEST_CASE("defect: a model that was late with six loads at once was never asked for fewer") {
    world w;
    CHECK(w.curve(about("h:1", "slow"), 4) == 5 + 34);  // 101, 50, 25, 12 and 6 loads; then 33 x 3 and 2
    CHECK(w.curve(about("h:1", "slowest"), 1) == 6 + 101);
    CHECK_MESSAGE(count(w.it, call_outcome::failed) == 0, "the server was never left alone");
  }

  TEST_CASE(
      "defect: a slow model with many inputs left no time for questions behind it, and nobody said so") {
    world w;
    const question fast = about("h:1", "pc-fast");
    std::vector<question> slow;
    for (int degrees = 10; degrees < 40; ++degrees) slow.push_back(about("h:1", "a-slow", degrees));
    const error late{errc::timeout, "no answer in 500 ms"};
    bool all = true;  // are wanted, not `fast` alone
    const auto go_on = [&](duration span) {
      int steps = 0;
      for (const instant until = w.now + span; w.now < until; w.pass(450ms)) {
        if (steps++ % 50 == 0) {
          (void)w.it.want(fast, w.now);
          for (std::size_t i = 0; all && i < slow.size(); ++i) (void)w.it.want(slow[i], w.now);
        }
        for (const auto& c : w.next()) {
          const bool in_time = c.about == fast || c.count == 1;
          w.it.answered(c, in_time ? heard(watts(c), c) : result<reply>(late), w.now);
        }
      }
    };
    go_on(10s);
    CHECK_MESSAGE(w.it.want(fast, w.now) != nullptr, "the models take turns");
    // A curve takes 45 s, all of them 23 minutes.
    go_on(14min);
    CHECK(w.it.troubles().empty());
    go_on(4min);
    CHECK(w.it.want(slow.back(), w.now) == nullptr);
    CHECK(w.it.trouble(slow.back()) == "the curves that it is asked for take more than 15 minutes");
    CHECK(w.it.trouble(fast).empty());
    REQUIRE(w.it.troubles().size() == 1);
    CHECK(w.it.troubles()[0].starts_with("model server h:1: the curves that it is asked for take"));
    go_on(42min);
    for (const question& q : slow) CHECK(w.it.want(q, w.now) != nullptr);
    CHECK(w.it.want(fast, w.now) != nullptr);
    all = false;
    go_on(asker::dropped_after + 1min);
    CHECK(w.it.troubles().empty());
  }

  TEST_CASE("defect: a model that never answered in time kept its server's other models from their curves") {
    world w;
    const question silent = about("h:1", "a-silent"), other = about("h:1", "other");
    const error late{errc::timeout, "no answer in 500 ms"};
    for (const instant until = w.now + 2 * asker::counts_for; w.now < until; w.pass(1s)) {
      (void)w.it.want(silent, w.now);
      (void)w.it.want(other, w.now);
      for (const auto& c : w.next())
        w.it.answered(c, c.about == silent ? result<reply>(late) : heard(watts(c), c), w.now);
    }
    CHECK(w.it.want(silent, w.now) == nullptr);
    CHECK(w.it.want(other, w.now) != nullptr);
  }

  TEST_CASE("a server that was silent for a while is asked for one load first, and then as before") {
    world w;
    const question q = about("h:1", "pc");
    const error late{errc::timeout, "no answer in 500 ms"};
    for (const instant until = w.now + 5min; w.now < until; w.pass(1s)) {
      (void)w.it.want(q, w.now);
      for (const auto& c : w.next()) w.it.answered(c, late, w.now);
    }
    CHECK(count(w.it, call_outcome::failed) > 0);
    CHECK(w.it.troubles().at(0).find("model server h:1: no answer in 500 ms") != std::string::npos);
    w.pass(1min);
    for (const std::size_t expected : {std::size_t{1}, points - 1}) {
      (void)w.it.want(q, w.now);
      const auto calls = w.next();
      REQUIRE(calls.size() == 1);
      CHECK(calls[0].count == expected);
      w.it.answered(calls[0], heard(watts(calls[0]), calls[0]), w.now);
    }
    CHECK(w.it.want(q, w.now) != nullptr);
    CHECK(w.it.troubles().empty());
  }

  TEST_CASE(
      "how much a model takes at once is forgotten with its last question, though its server is asked on") {
    world w;
    const question gone = about("h:1", "gone"), stays = about("h:1", "stays");
    CHECK(w.curve(gone, 50) > 1);  // from now on in halves
    (void)w.it.want(gone, w.now);
    for (const instant until = w.now + 2 * asker::dropped_after; w.now < until; w.pass(1min)) {
      (void)w.it.want(stays, w.now);
      for (const auto& c : w.next()) w.it.answered(c, heard(watts(c), c), w.now);
    }
    CHECK(w.it.size() == 1);
    CHECK(w.it.want(gone, w.now) == nullptr);
    const auto calls = w.next();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].about == gone);
    CHECK(calls[0].count == points);
  }

  TEST_CASE("a batch that was refused once is tried larger again an hour later") {
    world w;
    const question q = about("h:1", "pc");
    (void)w.it.want(q, w.now);
    const auto refused = w.next();
    w.it.answered(refused.at(0), heard(says(400, "{}"), refused[0]), w.now);  // a moment's trouble
    CHECK(w.curve(q, points) == 3);
    for (const int expected : {3, 3, 3, 2}) {  // parts of 50 points, then the whole hundred, then all
      w.pass(asker::asked_again_after);
      (void)w.it.want(q, w.now);
      int calls = 0;
      for (auto now = w.next(); !now.empty(); now = w.next(), ++calls)
        w.it.answered(now[0], heard(watts(now[0]), now[0]), w.now);
      CHECK(calls == expected);
    }
  }
}

}  // namespace asker_parts_test
