#include "agent/sources/bmc/bmc_kind.hpp"

#include "tests/agent/parsed_kind.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

namespace bmc_kind_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;
using words = std::vector<std::string>;

namespace {

std::string refusal(std::vector<const char*> flags) {
  bmc_kind kind;
  const auto done = support::give(kind, std::move(flags), {});
  return done ? "accepted" : done.error().message;
}

bmc_options options(std::vector<const char*> flags) {
  return support::parsed_kind<bmc_kind>(std::move(flags))->options({}).value();
}

TEST_SUITE_BEGIN("agent/sources/bmc/bmc_kind");

TEST_CASE("by default the helper beside the agent reads the device of this machine") {
  const auto o = options({});
  CHECK(o.device == "/dev/ipmi0");
  CHECK(o.socket.empty());
  CHECK(o.helper.ends_with("/binnacle-ipmi"));
  CHECK(o.arguments == words{"--device", "/dev/ipmi0", "--log-level", "info"});
  CHECK(o.select.defaults);
  CHECK(o.select.period_ms == 1000);
  CHECK(o.select.budget_ratio == doctest::Approx(0.05));
}

// The password itself must never be an argument, because every user may read the arguments of a process.
TEST_CASE("a BMC over the network is named to the helper with the file of its credentials") {
  const auto o =
      options({"--bmc-host", "10.0.0.7", "--bmc-credentials-file", "/etc/binnacle/bmc", "--bmc-protocol",
               "1.5", "--ipmi-config", "/etc/binnacle/ipmi.yaml", "--ipmi-helper", "/opt/binnacle-ipmi"});
  CHECK(o.device.empty());
  CHECK(o.helper == "/opt/binnacle-ipmi");
  CHECK(o.credentials_file == "/etc/binnacle/bmc");
  CHECK(o.arguments == words{"--host", "10.0.0.7", "--protocol", "1.5", "--credentials-file",
                             "/etc/binnacle/bmc", "--config", "/etc/binnacle/ipmi.yaml", "--log-level",
                             "info"});
}

TEST_CASE("what is to be read goes to the helper as it is") {
  const auto o =
      options({"--bmc-defaults=false", "--bmc-sensors", "*Temp*", "--bmc-exclude", "DIMM*", "--bmc-roles",
               "Ambient=inlet,P?=Diode=cpu", "--bmc-period", "500ms", "--bmc-budget", "10"});
  CHECK_FALSE(o.select.defaults);
  CHECK(o.select.include == words{"*Temp*"});
  CHECK(o.select.exclude == words{"DIMM*"});
  REQUIRE(o.select.roles.size() == 2);
  CHECK(o.select.roles[0].role == ipmi::sensor_role::inlet);
  CHECK(o.select.roles[1].pattern == "P?=Diode");
  CHECK(o.select.roles[1].role == ipmi::sensor_role::cpu);
  CHECK(o.select.period_ms == 500);
  CHECK(o.select.budget_ratio == doctest::Approx(0.1));
}

TEST_CASE("what cannot be is one sentence with the remedy") {
  std::string many = "x";
  for (std::size_t i = 0; i < ipmi::max_patterns; ++i) many += ",x";
  const std::string longest(ipmi::max_pattern + 1, 'x');
  std::vector<const char*> flags;
  std::string names;
  SUBCASE("credentials without a host") {
    flags = {"--bmc-credentials-file", "/etc/binnacle/bmc"};
    names = "bmc-host";
  }
  SUBCASE("a host without credentials") {
    flags = {"--bmc-host", "10.0.0.7"};
    names = "bmc-credentials-file";
  }
  SUBCASE("no role") {
    flags = {"--bmc-roles", "Ambient"};
    names = "PATTERN=inlet";
  }
  SUBCASE("an unknown role") {
    flags = {"--bmc-roles", "Ambient=outlet"};
    names = "PATTERN=inlet";
  }
  SUBCASE("too many patterns") {
    flags = {"--bmc-sensors", many.c_str()};
    names = "at most 50 patterns";
  }
  SUBCASE("a pattern that is too long") {
    flags = {"--bmc-exclude", longest.c_str()};
    names = "bmc-exclude";
  }
  CHECK(refusal(flags).find(names) != std::string::npos);
}

TEST_CASE("a sidecar has its own credentials") {
  CHECK(refusal({"--bmc-host", "10.0.0.7", "--ipmi-socket", "/run/binnacle/ipmi.sock"}) == "accepted");
}

// The unit of the packages says where binnacle-ipmi.service listens.
TEST_CASE("the socket of the machine's own helper serves where the settings name no other way to a BMC") {
  struct variable {
    variable() { ::setenv("BINNACLE_IPMI_SOCKET", "/run/binnacle-ipmi/ipmi.sock", 1); }
    ~variable() { ::unsetenv("BINNACLE_IPMI_SOCKET"); }
  } const set;
  const auto by_default = options({});
  CHECK(by_default.socket == "/run/binnacle-ipmi/ipmi.sock");
  CHECK(options({"--ipmi-helper", by_default.helper.c_str()}).socket == by_default.socket);
  CHECK(options({"--ipmi-config", "/etc/binnacle/ipmi.yaml"}).socket == "/run/binnacle-ipmi/ipmi.sock");
  CHECK(options({"--ipmi-socket", "/run/other.sock"}).socket == "/run/other.sock");
  CHECK(options({"--ipmi-helper", "/opt/binnacle-ipmi"}).socket.empty());
  CHECK(options({"--bmc-host", "10.0.0.7", "--bmc-credentials-file", "/etc/binnacle/bmc"}).socket.empty());
}

TEST_SUITE_END();

}  // namespace

}  // namespace bmc_kind_test
