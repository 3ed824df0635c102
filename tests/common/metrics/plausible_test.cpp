#include "common/metrics/plausible.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace plausible_test {

using namespace binnacle;
using metrics::plausible_range;

TEST_SUITE("common/metrics/plausible") {
  plausible_range of(std::string_view name) { return metrics::plausible(metrics::resolve(name)); }

  TEST_CASE("bounds come from the unit, unless the family has its own") {
    CHECK(of("rapl_power_watts") == plausible_range{0, 100'000, 500});
    CHECK(of("os_cpu_utilization_ratio") == plausible_range{0, 1, 1});
    CHECK(of("os_memory_available_bytes") == plausible_range{0, 1e17, 0});
    CHECK(of("rapl_headroom_ratio").least == -100);
    CHECK(of("os_load1").least == 0);
    CHECK(std::isinf(of("os_load1").most));
  }

  TEST_CASE("a flat name is its family's, an old name has them in its own unit, another's metric has none") {
    CHECK(of("rapl_power_watts_0") == of("rapl_power_watts"));
    CHECK(of("package_power_avg") == plausible_range{0, 10'000, 100});
    CHECK(of("health_metric") == plausible_range{});
    metrics::resolved turned{.family = "os_cpu_utilization_ratio"};
    turned.scale = -100;
    turned.offset = 100;
    CHECK(metrics::plausible(turned) == plausible_range{0, 100, 100});
  }

  TEST_CASE(
      "every metric that a node may have has bounds that are a range, but for a sensor of no known unit") {
    for (const metrics::family& f : metrics::families()) {
      CAPTURE(f.name);
      const plausible_range r = metrics::plausible(f);
      CHECK(r.least < r.most);
      CHECK(r.apart >= 0);
      CHECK((f.name == "bmc_sensor_value") == std::isinf(r.least));
      CHECK(metrics::plausible_text(f).empty() == std::isinf(r.least));
    }
  }

  TEST_CASE("people read what a value can be") {
    CHECK(metrics::plausible_text(*metrics::find("rapl_power_watts")) ==
          "watts of a node lie between 0 and 100000");
    CHECK(metrics::plausible_text(*metrics::find("os_cpu_utilization_ratio")) ==
          "a ratio is between 0 and 1");
    CHECK(metrics::plausible_text(*metrics::find("rapl_headroom_ratio")) ==
          "rapl_headroom_ratio is between -100 and 1");
    CHECK(metrics::plausible_text(*metrics::find("host_inlet_temperature_celsius")) ==
          "host_inlet_temperature_celsius is between -40 and 100");
    CHECK(metrics::plausible_text(*metrics::find("os_load1")) == "os_load1 is never below 0");
  }
}

}  // namespace plausible_test
