#include "agent/config_bmc.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

namespace config_bmc_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;
using words = std::vector<std::string>;

namespace {

std::string refusal(const settings& s) {
  const auto o = make_bmc_options(s);
  return o ? "accepted" : o.error().message;
}

TEST_SUITE_BEGIN("agent/config_bmc");

TEST_CASE("by default the helper beside the agent reads the device of this machine") {
  const auto o = make_bmc_options(settings{}).value();
  CHECK(o.device == "/dev/ipmi0");
  CHECK(o.socket.empty());
  CHECK(o.helper.ends_with("/binnacle-ipmi"));
  CHECK(o.arguments == words{"--device", "/dev/ipmi0", "--log-level", "info"});
  CHECK(o.select.defaults);
  CHECK(o.select.period_ms == 1000);
  CHECK(o.select.budget_ratio == doctest::Approx(0.05));
}

// The password itself is never an argument: anybody may read those.
TEST_CASE("a BMC over the network is named to the helper with the file of its credentials") {
  settings s;
  s.bmc_host = "10.0.0.7";
  s.bmc_credentials_file = "/etc/binnacle/bmc";
  s.bmc_protocol = "1.5";
  s.ipmi_config = "/etc/binnacle/ipmi.yaml";
  s.ipmi_helper = "/opt/binnacle-ipmi";
  const auto o = make_bmc_options(s).value();
  CHECK(o.device.empty());
  CHECK(o.helper == "/opt/binnacle-ipmi");
  CHECK(o.credentials_file == "/etc/binnacle/bmc");
  CHECK(o.arguments == words{"--host", "10.0.0.7", "--protocol", "1.5", "--credentials-file",
                             "/etc/binnacle/bmc", "--config", "/etc/binnacle/ipmi.yaml", "--log-level",
                             "info"});
}

TEST_CASE("what is to be read goes to the helper as it is") {
  settings s;
  s.bmc_defaults = false;
  s.bmc_sensors = {"*Temp*"};
  s.bmc_exclude = {"DIMM*"};
  s.bmc_roles = {"Ambient=inlet", "P?=Diode=cpu"};
  s.bmc_period = 500ms;
  s.bmc_budget = 10;
  const auto o = make_bmc_options(s).value();
  CHECK_FALSE(o.select.defaults);
  CHECK(o.select.include == s.bmc_sensors);
  CHECK(o.select.exclude == s.bmc_exclude);
  REQUIRE(o.select.roles.size() == 2);
  CHECK(o.select.roles[0].role == ipmi::sensor_role::inlet);
  CHECK(o.select.roles[1].pattern == "P?=Diode");
  CHECK(o.select.roles[1].role == ipmi::sensor_role::cpu);
  CHECK(o.select.period_ms == 500);
  CHECK(o.select.budget_ratio == doctest::Approx(0.1));
}

TEST_CASE("what cannot be is one sentence with the remedy") {
  settings s;
  std::string names;
  SUBCASE("credentials without a host") {
    s.bmc_credentials_file = "/etc/binnacle/bmc";
    names = "bmc-host";
  }
  SUBCASE("a host without credentials") {
    s.bmc_host = "10.0.0.7";
    names = "bmc-credentials-file";
  }
  SUBCASE("no role") {
    s.bmc_roles = {"Ambient"};
    names = "PATTERN=inlet";
  }
  SUBCASE("an unknown role") {
    s.bmc_roles = {"Ambient=outlet"};
    names = "PATTERN=inlet";
  }
  SUBCASE("too many patterns") {
    s.bmc_sensors = words(ipmi::max_patterns + 1, "x");
    names = "at most 50 patterns";
  }
  SUBCASE("a pattern that is too long") {
    s.bmc_exclude = {std::string(ipmi::max_pattern + 1, 'x')};
    names = "bmc-exclude";
  }
  CHECK(refusal(s).find(names) != std::string::npos);
}

TEST_CASE("a sidecar has its own credentials") {
  settings s;
  s.bmc_host = "10.0.0.7";
  s.ipmi_socket = "/run/binnacle/ipmi.sock";
  CHECK(refusal(s) == "accepted");
}

TEST_SUITE_END();

}  // namespace

}  // namespace config_bmc_test
