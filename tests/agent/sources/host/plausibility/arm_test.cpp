// An Arm server has no RAPL: what hwmon and arm-scmi say of its processors ("What is not believed" in
// agent/README.md).
#include "tests/agent/sources/host/plausibility/machines.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace plausibility_arm_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using namespace binnacle::agent::plausibility;
using agent::test::holds;
using agent::test::shown;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("agent/sources/host/plausibility/arm");

namespace {

/// An Arm server: it has no RAPL, only sensors of chips and firmware.
struct arm : bare_desk {
  board::group_ref chip = out.add_group("os", "apm_xgene-APMC0D29:00", 10s, 30s);
  board::group_ref firmware = out.add_group("os", "arm-scmi", 10s, 30s);
  board::group_ref bmc = out.add_group("bmc", "dcmi.power", 5s, 15s);

  board::series_ref sensor(const char* driver, const char* label, double watts) {
    const auto s = out.add_series(chip, "os_hwmon_power_watts", {{"chip", driver}, {"sensor", label}});
    out.set(s, watts);
    return s;
  }
  board::series_ref zone(const char* name, double watts, const char* family = "os_powercap_power_watts") {
    const auto s = out.add_series(firmware, family, {{"chip", "arm-scmi"}, {"zone", name}});
    out.set(s, watts);
    return s;
  }
  void pass(int seconds) {
    for (int i = 0; i < seconds; ++i) tick({chip, firmware, bmc});
  }
};

}  // namespace

TEST_CASE("hwmon: the processors of an Arm server feed host_power_watts, a card and a drive do not") {
  arm a;
  a.sensor("apm_xgene-APMC0D29:00", "CPU power", 75.5);
  a.sensor("apm_xgene-APMC0D29:00", "IO power", 31.2);
  a.sensor("amdgpu-0000:03:00.0", "PPT", 210);
  a.sensor("smpro_hwmon-smpro-hwmon.3.auto", "power1 CORE VRD", 75.5);  // the same once more
  a.pass(1);
  CHECK(a.node("hwmon") == "106.7");
  SUBCASE("0 W of one of them is not believed, nor is the sum that it is part of") {
    a.sensor("apm_xgene-APMC0D29:00", "CPU power", 0);
    const auto card = a.sensor("amdgpu-0000:03:00.0", "PPT", 0);
    a.pass(1);
    CHECK(a.node("hwmon") == "implausible");
    CHECK(shown(a.out, "os_hwmon_power_watts",
                {{"chip", "apm_xgene-APMC0D29:00"}, {"sensor", "CPU power"}}) == "implausible");
    CHECK(a.out.series()[card].reason == absence::none);  // the card sleeps, so its 0 W are valid
    CHECK(a.set_aside("hwmon", "zero") == "1");
    CHECK(holds(a.host.limitation(), "hwmon says 0 W although the processors are on"));
    a.sensor("apm_xgene-APMC0D29:00", "CPU power", 60);
    a.pass(1);
    CHECK(a.node("hwmon") == "91.2");
    CHECK(a.set_aside("hwmon", "zero") == "0");
  }
  SUBCASE("one that cannot be read takes the sum with it") {
    a.out.set_absent(a.sensor("apm_xgene-APMC0D29:00", "IO power", 0), absence::no_data);
    a.pass(31);
    CHECK(a.node("hwmon") == "no_data");
  }
}

TEST_CASE("hwmon: a person knows which of a board's sensors make the sum, and says so") {
  arm a;
  a.sensor("power_meter-ACPI000D:00", "power1", 410);
  a.sensor("power_meter-ACPI000D:01", "power1", 320);
  a.pass(1);
  CHECK(a.node("hwmon") == "no such series");
  host_source told(host_options{.period = 1s, .powers = {"power_meter-ACPI000D:00/power1"}},
                   a.clock.source());
  REQUIRE(told.read(a.out));
  CHECK(a.node("hwmon") == "410.0");
}

// Before, the one chip's 75.5 W were the node's.
TEST_CASE("hwmon: two sockets and the chip of one are half of the processors, so there is no sum") {
  temp_folder sys;
  sys.write("devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
  sys.write("devices/system/cpu/cpu1/topology/physical_package_id", "1\n");
  arm a;
  host_options options{.period = 1s, .sys_root = sys.path()};
  const char* alone = "missing";
  SUBCASE("until the other one is there") {}
  SUBCASE("unless a person says that it is all") {
    options.powers = {"CPU power"};
    alone = "75.5";
  }
  host_source host(options, a.clock.source());
  REQUIRE(host.discover(a.out));
  const auto pass = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      a.clock.now += 1s;
      a.out.mark_read(a.chip, a.clock.now);
      REQUIRE(host.read(a.out));
    }
  };
  a.sensor("apm_xgene-APMC0D29:00", "CPU power", 75.5);
  pass(90);
  CHECK(a.node("hwmon") == alone);
  CHECK(holds(host.limitation(), "2 sockets have a CPU online") == (std::string_view(alone) == "missing"));
  a.sensor("apm_xgene-APMC0D29:01", "CPU power", 70);
  pass(1);
  CHECK(a.node("hwmon") == "145.5");
  CHECK(host.limitation().empty());
}

// Before, the sum of one socket's 76 W and 0.1 W of the other was the node's.
TEST_CASE("wrong unit: with two sockets, less than 1 W of one of them is not believed") {
  temp_folder sys;
  sys.write("devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
  sys.write("devices/system/cpu/cpu1/topology/physical_package_id", "1\n");
  arm a;
  host_source host(host_options{.period = 1s, .sys_root = sys.path()}, a.clock.source());
  REQUIRE(host.discover(a.out));
  const auto pass = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      a.clock.now += 1s;
      for (const auto g : {a.chip, a.firmware}) a.out.mark_read(g, a.clock.now);
      REQUIRE(host.read(a.out));
    }
  };
  const char* way = "hwmon";
  board::series_ref second = board::no_series;
  SUBCASE("a chip") {
    a.sensor("apm_xgene-APMC0D29:00", "CPU power", 76);
    second = a.sensor("apm_xgene-APMC0D29:01", "CPU power", 75);
  }
  SUBCASE("a zone") {
    a.zone("SOC 0", 76);
    second = a.zone("SOC 1", 75);
    way = "arm-scmi";
  }
  pass(1);
  CHECK(a.node(way) == "151.0");
  a.out.set(second, 0.1);
  pass(1);
  CHECK(a.node(way) == "implausible");
  CHECK(a.set_aside(way, "wrong_unit") == "1");
  CHECK(holds(host.limitation(), "says 0.10 W for one of 2 sockets, but each draws at least 1 W"));
  a.out.set(second, 70.0);
  pass(1);
  CHECK(a.node(way) == "146.0");
  CHECK(host.limitation().empty());
  if (std::string_view(way) == "arm-scmi") {
    a.zone("DDR", 0.8);  // more zones than sockets: nobody knows which is a socket's
    pass(1);
    CHECK(a.node(way) == "146.8");
  }
}

TEST_CASE("arm-scmi: zones that are in no other make host_power_watts, before hwmon, and 0 W is none") {
  arm a;
  a.sensor("scmi_sensors-scmi_dev.2", "soc", 182.0);
  a.zone("SOC 0", 182.4);
  const auto second = a.zone("SOC 1", 170);
  a.zone("CLUSTER", 64.1, "os_powercap_part_power_watts");
  a.pass(1);
  CHECK(a.node("arm-scmi") == "352.4");
  a.out.set(second, 0.0);
  a.pass(1);
  CHECK(a.set_aside("arm-scmi", "zero") == "1");
  CHECK(a.out.series()[second].reason == absence::implausible);
  // Nobody knows whether the chip measures as much: it may show one socket of two.
  CHECK(a.node("hwmon") == "no such series");
  CHECK(a.node("arm-scmi") == "implausible");
  a.out.set(second, 160.0);
  a.pass(1);
  CHECK(a.node("arm-scmi") == "342.4");
}

TEST_CASE("arm-scmi: a zone of less than 0 W, which its source withholds, sets the sum aside at once") {
  arm a;
  a.zone("SOC 0", 182.4);
  const auto second = a.zone("SOC 1", 170);
  a.pass(1);
  CHECK(a.node("arm-scmi") == "352.4");
  a.out.set_absent(second, absence::implausible);
  a.pass(1);
  CHECK(a.node("arm-scmi") == "implausible");
  CHECK(a.set_aside("arm-scmi", "zero") == "1");
  CHECK(a.host.limitation().empty());  // the source os says so itself
  a.out.set(second, 160.0);
  a.pass(1);
  CHECK(a.node("arm-scmi") == "342.4");
}

// Before, the zone's 20 W were the node's, which won every placement.
TEST_CASE("arm-scmi: a zone below the zones directly inside it sets the sum aside") {
  arm a;
  const auto inside = [&a](const char* name, const char* around, double watts) {
    a.out.set(a.out.add_series(a.firmware, "os_powercap_part_power_watts",
                               {{"chip", "arm-scmi"}, {"zone", name}, {"inside", around}}),
              watts);
  };
  const auto zone = a.zone("SOC", 140);
  inside("CLUSTER0", "SOC", 64);
  inside("CLUSTER1", "SOC", 58);
  inside("CORES", "CLUSTER0", 60);  // in CLUSTER0 already
  a.pass(1);
  CHECK(a.node("arm-scmi") == "140.0");
  a.out.set(zone, 20.0);
  a.pass(60);
  CHECK(a.node("arm-scmi") == "20.0");
  a.pass(1);
  CHECK(a.node("arm-scmi") == "implausible");
  CHECK(a.set_aside("arm-scmi", "below_parts") == "1");
  CHECK(a.out.series()[zone].reason == absence::implausible);
  CHECK(holds(a.host.limitation(), "arm-scmi said 20.0 W, less than the 122.0 W of the zones inside it"));
  a.out.set(zone, 140.0);
  a.pass(31);
  CHECK(a.node("arm-scmi") == "140.0");
  CHECK(a.host.limitation().empty());
}

// Before, one socket's 90 W were the node's.
TEST_CASE("arm-scmi says less than hwmon's sensors of the same processors: it is set aside") {
  arm a;
  const auto zone = a.zone("SOC0", 90);
  a.sensor("apm_xgene-APMC0D29:00", "CPU power", 95);
  const auto other = a.sensor("apm_xgene-APMC0D29:01", "CPU power", 95);
  SUBCASE("from the first comparison on") {
    a.pass(1);
    CHECK(a.node("hwmon") == "190.0");
    CHECK(a.set_aside("arm-scmi", "below_other") == "1");
    CHECK(a.out.series()[zone].reason == absence::implausible);
    CHECK(holds(a.host.limitation(),
                "arm-scmi said 90.0 W, less than the 190.0 W of hwmon, which measures "
                "the same processors"));
  }
  SUBCASE("later after a minute") {
    a.out.set(other, 10.0);
    a.pass(1);
    CHECK(a.node("arm-scmi") == "90.0");
    a.out.set(other, 95.0);
    a.pass(60);
    CHECK(a.node("arm-scmi") == "90.0");
    a.pass(1);
    CHECK(a.node("arm-scmi") == "implausible");
    CHECK(a.node("hwmon") == "no such series");
  }
  SUBCASE("not for what two meters of the same thing differ by") {
    a.out.set(zone, 140.0);
    a.pass(100);
    CHECK(a.node("arm-scmi") == "140.0");
    CHECK(a.host.limitation().empty());
  }
  SUBCASE("not beside sensors that a person names") {
    host_source told(host_options{.period = 1s, .powers = {"CPU power"}}, a.clock.source());
    a.clock.now += 1s;
    for (const auto g : {a.chip, a.firmware}) a.out.mark_read(g, a.clock.now);
    REQUIRE(told.read(a.out));
    CHECK(a.node("arm-scmi") == "90.0");
  }
}

// Before, the zone's series went with the next look, and the other one's 182 W were the node's.
TEST_CASE("arm-scmi: a zone that goes is missing, until it is back or the agent is restarted") {
  arm a;
  const auto look_anew = [&a] {  // the part of the source os that announces a chip with other sensors
    a.out.remove_group(a.firmware);
    a.firmware = a.out.add_group("os", "arm-scmi", 10s, 30s);
  };
  const char* part = "os_powercap_part_power_watts";
  SUBCASE("one of two") {
    a.zone("SOC 0", 182.4);
    a.zone("SOC 1", 170);
    a.pass(1);
    CHECK(a.node("arm-scmi") == "352.4");
    look_anew();
    a.zone("SOC 0", 182.4);
    a.pass(31);
    CHECK(a.node("arm-scmi") == "missing");
    CHECK(holds(a.host.limitation(), "os_powercap_power_watts{chip=\"arm-scmi\",zone=\"SOC 1\"} is gone"));
    SUBCASE("both go, and one comes") {
      look_anew();
      a.pass(1);
      CHECK(a.node("arm-scmi") == "no such series");
      a.zone("SOC 0", 182.4);
      a.pass(1);
      CHECK(a.node("arm-scmi") == "missing");
    }
    SUBCASE("it comes back") {
      a.zone("SOC 1", 160);
      a.pass(1);
      CHECK(a.node("arm-scmi") == "342.4");
      CHECK(a.host.limitation().empty());
    }
    SUBCASE("restarted") {
      host_source again(host_options{.period = 1s}, a.clock.source());
      REQUIRE(again.read(a.out));
      CHECK(a.node("arm-scmi") == "182.4");
    }
  }
  SUBCASE("the whole, so that its part looks like one") {
    a.zone("SOC", 182.4);
    a.zone("CLUSTER", 64.1, part);
    a.pass(1);
    look_anew();
    a.zone("CLUSTER", 64.1);
    a.pass(31);
    CHECK(a.node("arm-scmi") == "missing");
    look_anew();
    a.zone("SOC", 182.4);
    a.zone("CLUSTER", 64.1, part);
    a.pass(1);
    CHECK(a.node("arm-scmi") == "182.4");
  }
  SUBCASE("none, but a zone comes that contains it") {
    a.zone("CLUSTER", 64.1);
    a.pass(1);
    CHECK(a.node("arm-scmi") == "64.1");
    look_anew();
    a.zone("SOC", 182.4);
    a.zone("CLUSTER", 64.1, part);
    a.pass(1);
    CHECK(a.node("arm-scmi") == "182.4");
  }
  SUBCASE("a chip of hwmon") {
    const char* other = "apm_xgene-APMC0D29:01";
    const auto chip = a.out.add_group("os", other, 10s, 30s);
    a.sensor("apm_xgene-APMC0D29:00", "CPU power", 75.5);
    a.out.set(a.out.add_series(chip, "os_hwmon_power_watts", {{"chip", other}, {"sensor", "CPU power"}}),
              70.0);
    a.out.mark_read(chip, a.clock.now);
    a.pass(1);
    CHECK(a.node("hwmon") == "145.5");
    a.out.remove_group(chip);
    a.pass(31);
    CHECK(a.node("hwmon") == "missing");
  }
}

TEST_CASE("arm-scmi and hwmon: DCMI that contradicts the processors is set aside, as beside RAPL") {
  arm a;
  const auto dcmi = a.out.add_series(a.bmc, "bmc_dcmi_power_watts", {});
  const char* witness = "hwmon";
  const auto draw = [&](double watts) {
    if (std::string_view(witness) == "hwmon")
      a.sensor("apm_xgene-APMC0D29:00", "CPU power", watts);
    else
      a.zone("SOC", watts);
  };
  SUBCASE("hwmon") {}
  SUBCASE("arm-scmi") { witness = "arm-scmi"; }
  draw(150);
  SUBCASE("less than they draw, from the first comparison on") {
    a.out.set(dcmi, 90.0);
    a.pass(1);
    CHECK(a.node(witness) == "150.0");
    CHECK(a.set_aside("dcmi", "below_parts") == "1");
    CHECK(holds(a.host.limitation(), "less than the 150.0 W of the processors"));
  }
  SUBCASE("the same number while they move") {
    a.out.set(dcmi, 400.0);
    a.pass(60);
    CHECK(a.node("dcmi") == "400.0");
    draw(260);
    a.pass(105);
    CHECK(a.node("dcmi") == "frozen");
    CHECK(holds(a.host.limitation(), std::string("in which ") + witness + " moved"));
  }
}

// Before, the zone that nobody believes was the only witness, and DCMI's 20 W were the node's.
TEST_CASE("DCMI is compared with the best meter of the processors that is believed") {
  arm a;
  const auto dcmi = a.out.add_series(a.bmc, "bmc_dcmi_power_watts", {});
  SUBCASE("arm-scmi is set aside, hwmon is not") {
    a.zone("SOC", 0);
    a.sensor("scmi_sensors-scmi_dev.2", "soc", 182);
    a.out.set(dcmi, 20.0);
    a.pass(1);
    CHECK(a.set_aside("arm-scmi", "zero") == "1");
    CHECK(a.set_aside("dcmi", "below_parts") == "1");
    CHECK(a.node("hwmon") == "182.0");
    CHECK(holds(a.host.limitation(), "less than the 182.0 W of the processors"));
  }
  SUBCASE("the witness changes, which is no move of it") {
    const auto zone = a.zone("SOC", 182);
    a.sensor("scmi_sensors-scmi_dev.2", "soc", 90);
    a.out.set(dcmi, 400.0);
    a.pass(60);
    a.out.set(zone, 0.0);
    a.pass(300);
    CHECK(a.set_aside("arm-scmi", "zero") == "1");
    CHECK(a.node("dcmi") == "400.0");
  }
  SUBCASE("RAPL never had a value, the sensors that power-sensors names have one") {
    const auto rapl = a.out.add_group("rapl", "", 1s, 10s);
    const auto package = a.out.add_series(rapl, "rapl_power_watts", {{"package", "0"}});
    a.out.set_absent(package, absence::never_moved);
    a.sensor("scmi_sensors-scmi_dev.2", "soc", 182);
    a.out.set(dcmi, 20.0);
    a.pass(1);
    CHECK(a.set_aside("dcmi", "below_parts") == "1");
    CHECK(a.node("hwmon") == "182.0");
  }
  SUBCASE("arm-scmi died: hwmon may show less, so it cannot make DCMI believed again") {
    const auto zone = a.zone("SOC", 182);
    a.sensor("scmi_sensors-scmi_dev.2", "soc", 90);
    a.out.set(dcmi, 100.0);
    a.pass(1);
    CHECK(a.set_aside("dcmi", "below_parts") == "1");
    a.out.set_absent(zone, absence::timeout);
    a.pass(60);
    CHECK(a.set_aside("dcmi", "below_parts") == "1");
  }
}

TEST_CASE("wrong unit: sensors in mW or nW where µW are promised are not believed") {
  temp_folder sys;
  sys.write("devices/system/cpu/online", "0-79\n");
  arm a;
  host_source host(host_options{.period = 1s, .sys_root = sys.path()}, a.clock.source());
  REQUIRE(host.discover(a.out));
  const auto says = [&](double watts) {
    a.out.set(a.zone("SOC", watts), watts);
    for (int i = 0; i < 31; ++i) {
      a.clock.now += 1s;
      a.out.mark_read(a.firmware, a.clock.now);
      REQUIRE(host.read(a.out));
    }
  };
  says(180);
  CHECK(a.node("arm-scmi") == "180.0");
  for (const double wrong : {0.18, 180'000.0}) {
    CAPTURE(wrong);
    says(wrong);
    CHECK(a.node("arm-scmi") == "implausible");
    CHECK(a.set_aside("arm-scmi", "wrong_unit") == "1");
    CHECK(holds(host.limitation(), "the processors draw between 2 W and 4000 W"));
  }
  says(2.5);
  CHECK(a.node("arm-scmi") == "2.5");
  CHECK(a.set_aside("arm-scmi", "wrong_unit") == "0");
}

// Before, a DCMI in kW was the node's where nothing measures the processors.
TEST_CASE("wrong unit: a meter of the machine that says less than the CPUs draw is not believed") {
  temp_folder sys;
  sys.write("devices/system/cpu/online", "0-79\n");
  arm a;
  host_source host(host_options{.period = 1s, .sys_root = sys.path()}, a.clock.source());
  REQUIRE(host.discover(a.out));
  const char* way = "dcmi";
  board::series_ref meter = board::no_series;
  SUBCASE("DCMI") { meter = a.out.add_series(a.bmc, "bmc_dcmi_power_watts", {}); }
  SUBCASE("the system's sensor") {
    meter = a.out.add_series(a.bmc, "bmc_power_watts", {{"sensor", "System Power"}, {"scope", "node"}});
    way = "bmc";
  }
  const auto says = [&](double watts) {
    a.out.set(meter, watts);
    for (int i = 0; i < 31; ++i) {
      a.clock.now += 1s;
      a.out.mark_read(a.bmc, a.clock.now);
      REQUIRE(host.read(a.out));
    }
  };
  says(1);
  CHECK(a.node(way) == "implausible");
  CHECK(a.set_aside(way, "wrong_unit") == "1");
  CHECK(a.out.series()[meter].reason == absence::implausible);
  CHECK(holds(host.limitation(), "says 1.00 W, but the processors draw at least 2 W"));
  says(2.5);
  CHECK(a.node(way) == "2.5");
  CHECK(a.set_aside(way, "wrong_unit") == "0");
  says(4500);  // accelerators may draw it
  CHECK(a.node(way) == "4500.0");
  says(0);
  CHECK(a.set_aside(way, "zero") == "1");
  CHECK(a.set_aside(way, "wrong_unit") == "0");
}

// Before, the least was that of the CPUs at the start.
TEST_CASE("wrong unit: the least that the CPUs draw follows the CPUs that are online") {
  temp_folder sys;
  sys.write("devices/system/cpu/online", "0\n");
  arm a;
  host_source host(host_options{.period = 1s, .sys_root = sys.path()}, a.clock.source());
  REQUIRE(host.discover(a.out));
  const auto meter = a.out.add_series(a.bmc, "bmc_dcmi_power_watts", {});
  a.out.set(meter, 1.0);
  const auto tick = [&] {
    a.clock.now += 1s;
    a.out.mark_read(a.bmc, a.clock.now);
    REQUIRE(host.read(a.out));
  };
  tick();
  CHECK(a.node("dcmi") == "1.0");
  sys.write("devices/system/cpu/online", "0-79\n");
  tick();
  CHECK(a.node("dcmi") == "implausible");
  CHECK(a.set_aside("dcmi", "wrong_unit") == "1");
}

TEST_SUITE_END();

}  // namespace plausibility_arm_test
