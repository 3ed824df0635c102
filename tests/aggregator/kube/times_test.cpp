#include "aggregator/kube/times.hpp"

#include <doctest/doctest.h>

namespace times_test {

namespace {

using namespace binnacle;

TEST_SUITE("aggregator/kube/times") {
  TEST_CASE("a MicroTime has six digits after the decimal point") {
    const std::chrono::system_clock::time_point t(std::chrono::seconds(1'767'225'600));
    CHECK(kube::micro_time(t) == "2026-01-01T00:00:00.000000Z");
    CHECK(kube::micro_time(t + std::chrono::microseconds(42)) == "2026-01-01T00:00:00.000042Z");
  }

  TEST_CASE("times of RFC 3339") {
    const std::chrono::system_clock::time_point t(std::chrono::seconds(1'767'225'600));
    for (const char* text : {"2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123456789Z",
                             "2026-01-01T01:30:00+01:30", "2025-12-31t19:00:00-05:00"}) {
      CAPTURE(text);
      CHECK(kube::parse_rfc3339(text) == t);
    }
    CHECK(kube::parse_rfc3339("9999-12-31T23:59:59Z") > t);
    CHECK(kube::parse_rfc3339("0001-01-01T00:00:00Z") < t);  // Go's zero time
    for (const char* text : {"", "2026-01-01", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00",
                             "2026-01-01T00:00:00.Z", "2026-13-01T00:00:00Z", "2026-01-01T25:00:00Z",
                             "2026-01-01T00:00:00*01:00", "2026-01-01T00:00:00+1:00", "tomorrow"}) {
      CAPTURE(text);
      CHECK_FALSE(kube::parse_rfc3339(text).has_value());
    }
  }
}

}  // namespace

}  // namespace times_test
