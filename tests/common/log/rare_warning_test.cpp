#include "common/log/rare_warning.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace binnacle;
using namespace std::chrono_literals;

struct warnings {
  explicit warnings(log_level least)
      : log("t", least,
            [this](std::string_view line) { lines.emplace_back(line.substr(line.find(' ') + 1)); }) {}
  std::vector<std::string> lines;  // without the time at their beginning
  logger log;
  rare_warning one;
};

TEST_SUITE("common/log/rare_warning") {
  TEST_CASE("of many equal warnings one is logged in ten seconds, and the next says how many were left out") {
    warnings b(log_level::info);
    instant now(1h);
    for (int i = 0; i < 3; ++i) b.one.say(b.log, now, "no");
    now += 9s;
    b.one.say(b.log, now, "no");
    now += 1s;
    b.one.say(b.log, now, "still no");
    now += 10s;
    b.one.say(b.log, now, "no");
    CHECK(b.lines == std::vector<std::string>{"warning t: no", "warning t: still no (and 3 more like it)",
                                              "warning t: no"});
  }

  TEST_CASE("what is left out is there for who asks for everything") {
    warnings b(log_level::debug);
    b.one.say(b.log, instant(1h), "no {}");
    b.one.say(b.log, instant(1h), "nor {}");
    CHECK(b.lines == std::vector<std::string>{"warning t: no {}", "debug t: nor {}"});
  }
}

}  // namespace
