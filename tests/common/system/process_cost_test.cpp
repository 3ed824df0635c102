#include "common/system/process_cost.hpp"

#include "common/system/host_name.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace binnacle;
using namespace std::chrono_literals;

TEST_SUITE("common/system/process_cost") {
  TEST_CASE("a load is the part of the time for which the thread worked since the last call") {
    const instant start = instant() + 1h;
    load_meter meter(5s, start);
    CHECK(meter.next(5s + 30ms, start + 40ms) == doctest::Approx(0.75));
    CHECK(meter.next(5s + 30ms, start + 1s) == 0);
    // The two clocks are read one after the other, so the quotient may be above 1; it is capped.
    CHECK(meter.next(5s + 100ms, start + 1s + 60ms) == 1);
    CHECK(meter.next(6s, start + 1s + 60ms) == 0);
  }

  TEST_CASE("memory that is used and time that is spent show in the process's own cost") {
    const auto before = own_cost();
    REQUIRE(before.resident_bytes.has_value());
    std::vector<char> used(std::size_t{64} << 20, 'x');
    double after = before.cpu_seconds;
    while (after < before.cpu_seconds + 0.01) after = own_cost().cpu_seconds;
    CHECK(used.back() == 'x');
    CHECK(*own_cost().resident_bytes >= *before.resident_bytes + used.size() / 2);
  }

  TEST_CASE("the machine has a name of at most 255 bytes") {
    CHECK_FALSE(host_name().empty());
    CHECK(host_name().size() <= 255);
  }
}

}  // namespace
