#include "common/clock.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace std::chrono_literals;
using binnacle::duration;

TEST_SUITE("common/clock") {
  TEST_CASE("a time beyond what system_clock holds is its nearer end, and times differ as they should") {
    using wall = std::chrono::system_clock;
    const std::time_t year_1 = -62'135'596'800, year_9999 = 253'402'300'799;
    CHECK(binnacle::wall_at(1'767'225'600) == wall::time_point(1'767'225'600s));
    CHECK(binnacle::wall_at(0) == wall::time_point());
    CHECK(binnacle::wall_at(year_1) == wall::time_point());
    CHECK(binnacle::rfc3339(binnacle::wall_at(year_9999)) == "2262-04-11T23:47:16Z");
    CHECK(binnacle::wall_at(year_9999) - binnacle::wall_at(year_1) > 292 * 365 * 24h);
  }

  TEST_CASE("durations are read in Go's form") {
    struct row {
      std::string text;
      duration value;
    };
    const row rows[] = {{"0", 0s},
                        {"0s", 0s},
                        {"1s", 1s},
                        {"2.5s", 2500ms},
                        {"200ms", 200ms},
                        {"1h30m", 90min},
                        {"1m0.5s", 60500ms},
                        {"5us", 5us},
                        {"5µs", 5us},
                        {"7ns", 7ns},
                        {".5s", 500ms},
                        {"1.s", 1s},
                        {"100h", 100h},
                        {"1h1m1s1ms1us1ns", 1h + 1min + 1s + 1ms + 1us + 1ns},
                        {"0.1s", 100ms},
                        {"0.000000001s", 1ns},
                        {"9000000s", 9000000s}};
    for (const row& r : rows) {
      CAPTURE(r.text);
      duration got{-1};
      CHECK(binnacle::parse_duration(r.text, got));
      CHECK(got == r.value);
    }
  }

  TEST_CASE("what is not a duration is refused and leaves the variable alone") {
    for (std::string text : {"",       "5",
                             "s",      "1",
                             "-1s",    "+1s",
                             "1s ",    " 1s",
                             "1 s",    "1d",
                             "1x",     "1e3s",
                             "nan",    "infs",
                             "inf",    "1h-30m",
                             "1m+5s",  "0x1s",
                             "1s2",    "900000h",
                             "1e400s", "100000000000000000000000s",
                             "1..5s",  ".s",
                             "--1s"}) {
      CAPTURE(text);
      duration got = 42s;
      CHECK_FALSE(binnacle::parse_duration(text, got));
      CHECK(got == 42s);
    }
  }

  TEST_CASE("a span's text is short and reads back exactly") {
    struct row {
      duration value;
      std::string text;
    };
    const row rows[] = {{0s, "0s"},
                        {-1s, "0s"},
                        {1s, "1s"},
                        {1500ms, "1.5s"},
                        {200ms, "200ms"},
                        {5min, "5m"},
                        {1h, "1h"},
                        {90min, "1h30m"},
                        {1h + 5s, "1h5s"},
                        {61'500ms, "1m1.5s"},
                        {1us, "1us"},
                        {7ns, "7ns"},
                        {1ns + 1s, "1.000000001s"},
                        {1050us, "1.05ms"},
                        {100h, "100h"},
                        {1h + 1ns, "1h1ns"}};
    for (const row& r : rows) {
      CAPTURE(r.text);
      CHECK(binnacle::duration_text(r.value) == r.text);
      duration again{-1};
      CHECK(binnacle::parse_duration(r.text, again));
      CHECK(again == std::max(r.value, duration(0)));
    }
  }

  TEST_CASE("spans are shown as people read them") {
    struct row {
      duration value;
      std::string text;
    };
    const row rows[] = {{-5s, "0ms"},        {0s, "0ms"},     {12us, "12us"},   {12ms, "12ms"},
                        {999ms, "999ms"},    {1s, "1.0s"},    {1300ms, "1.3s"}, {250s, "4m10s"},
                        {60s, "1m0s"},       {3600s, "1h0m"}, {90min, "1h30m"}, {100h, "100h0m"},
                        {59'960ms, "59.9s"}, {500ns, "0us"}};
    for (const row& r : rows) CHECK(binnacle::human(r.value) == r.text);
  }

  TEST_CASE("wall-clock times are printed in Kubernetes' form") {
    using std::chrono::system_clock;
    CHECK(binnacle::rfc3339(system_clock::time_point{}) == "1970-01-01T00:00:00Z");
    CHECK(binnacle::rfc3339(system_clock::time_point{} + 1'767'225'600s) == "2026-01-01T00:00:00Z");
    CHECK(binnacle::rfc3339(system_clock::time_point{} + 951'782'399s + 900ms) == "2000-02-28T23:59:59Z");
  }

  TEST_CASE("an instant survives the way through nanoseconds") {
    const auto t = binnacle::from_ns(1'234'567'890'123);
    CHECK(binnacle::to_ns(t) == 1'234'567'890'123);
    CHECK(binnacle::to_ns(t + 1us) == 1'234'567'891'123);
    CHECK(binnacle::to_us(t) == 1'234'567'890);
    CHECK(binnacle::from_us(1'234'567'890) == t - 123ns);
  }
}
