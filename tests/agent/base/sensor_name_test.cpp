#include "agent/base/sensor_name.hpp"

#include "agent/base/processor_sensors.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace sensor_name_test {

using namespace binnacle;
using namespace binnacle::agent;

namespace {

wire::series_info series(metrics::label_set labels) {
  wire::series_info s;
  s.labels = std::move(labels);
  return s;
}

bool fits(const char* glob, const wire::series_info& s) {
  return is_named(s, std::vector<std::string>{"no such sensor", glob});
}

}  // namespace

TEST_SUITE_BEGIN("agent/base/sensor_name");

TEST_CASE("a hwmon sensor is named by its label, or by its chip and label") {
  const auto s = series({{"chip", "nct6798-isa-0290"}, {"sensor", "SYSTIN"}});
  CHECK(fits("systin", s));
  CHECK(fits("nct6798*/SYSTIN", s));
  CHECK(fits("*", s));
  CHECK_FALSE(fits("nct6798*", series({{"chip", "nct6798-isa-0290"}})));
  CHECK_FALSE(fits("it87*/SYSTIN", s));
  CHECK_FALSE(fits("CPUTIN", s));
  CHECK_FALSE(is_named(s, {}));
}

TEST_CASE("a thermal zone is named by its type") {
  CHECK(fits("*inlet*", series({{"zone", "3"}, {"type", "Inlet-Air"}})));
  CHECK_FALSE(fits("*inlet*", series({{"zone", "3"}, {"type", "x86_pkg_temp"}})));
}

TEST_CASE("the usual power sensors are those of the processors, and no card's") {
  CHECK(is_named(series({{"chip", "apm_xgene-APMC0D29:00"}, {"sensor", "CPU power"}}), usual_powers));
  CHECK(is_named(series({{"chip", "scmi_sensors-virtual-0"}, {"sensor", "soc"}}), usual_powers));
  CHECK_FALSE(is_named(series({{"chip", "mlx5-0000:01:00.0"}, {"sensor", "card"}}), usual_powers));
}

TEST_SUITE_END();

}  // namespace sensor_name_test
