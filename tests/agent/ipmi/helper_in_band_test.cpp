// The helper against the BMC of its own machine: OpenIPMI's simulator behind a stand-in for /dev/ipmi0.
#include "common/system/read_file.hpp"
#include "tests/agent/ipmi/helper_process.hpp"
#include "tests/agent/ipmi/lan_fixture.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <signal.h>

using namespace binnacle;
using namespace binnacle::ipmi;
using namespace binnacle::support;
using namespace std::chrono_literals;

namespace {

// Flags with short pauses, so that failures are tried again soon.
std::vector<std::string> flags_of(const bmc_sim& bmc) {
  return {"--cache-folder", bmc.folder() + "/cache", "--retry", "100ms"};
}

}  // namespace

TEST_SUITE_BEGIN("agent/ipmi/helper_in_band");

TEST_CASE("in-band: the same sensors by /dev/ipmi0, and a slow BMC keeps nineteen twentieths of its time") {
  bmc_sim bmc;
  const auto flags = flags_of(bmc);
  helper_process helper(flags, bmc.shim_environment());
  REQUIRE(helper.until_status(true));
  CHECK(helper.last<ipmi::bmc>()->address == "/dev/ipmi0");
  CHECK(helper.last<inventory_end>()->count == 14);
  helper.say(every(500));
  CHECK(helper.next_reading("20.0.02")->value == 61);
  CHECK(helper.next_reading("dcmi.power")->value == 417);

  SUBCASE("slow") {
    bmc.set_shim("delay_ms 30");
    REQUIRE(helper.until([](const auto& m) {
      const auto* p = std::get_if<plan>(&m);
      return p != nullptr && p->period_ms.at("20.0.02") > 1'000;
    }));
    const auto before = helper.said.size();
    const auto began = boot_clock::now();
    helper.listen(3s);
    double busy = 0;
    for (auto i = before; i < helper.said.size(); ++i) {
      if (const auto* r = std::get_if<reading>(&helper.said[i])) busy += r->took_us * 1e-6;
    }
    const auto span = std::chrono::duration<double>(boot_clock::now() - began).count();
    CHECK(busy > 0);
    // The budget, ten seconds' share of it that may be saved up, and a reading that began at the end. At the
    // wished periods it would be 2 s.
    CHECK(busy <= 0.05 * span + 0.5 + 0.2);
  }
  SUBCASE("busy: the value ages until the BMC has been busy for long, and comes back") {
    bmc.set_shim("fail 45 192 fail_netfn 4");  // Get Sensor Reading: node busy
    REQUIRE(helper.until([](const auto& m) {
      const auto* r = std::get_if<reading>(&m);
      return r != nullptr && r->key == "20.0.02" && r->reason == absence::timeout;
    }));
    bmc.set_shim("");
    CHECK(helper.until([](const auto& m) {
      const auto* r = std::get_if<reading>(&m);
      return r != nullptr && r->key == "20.0.02" && r->value == 61;
    }));
    CHECK(helper.last<stats>()->sessions <= 1);
  }
  SUBCASE("the driver fails: opened again") {
    bmc.kill();
    REQUIRE(helper.until_status(false));
    bmc.start();
    REQUIRE(helper.until_status(true));
    CHECK(helper.next_reading("20.0.02")->value == 61);
  }
}

TEST_CASE(
    "a BMC that is busy when a session begins is asked again, and loses nothing for the session's life") {
  bmc_sim bmc;
  // The helper tries again after a second, four times at most. The test must change the BMC between these
  // tries.
  auto flags = std::vector<std::string>{"--cache-folder", bmc.folder() + "/cache"};
  const auto busy = [](const auto& m) {
    const auto* s = std::get_if<status>(&m);
    return s != nullptr &&
           s->message.find("is busy or starting and does not list its sensors") != std::string::npos;
  };
  SUBCASE("for a while") {
    std::string what;
    SUBCASE("whether it has DCMI") { what = "fail 1 192 fail_netfn 44"; }
    SUBCASE("its chassis") { what = "fail 1 192 fail_netfn 0"; }
    SUBCASE("a DCMI temperature") { what = "fail 16 192 fail_netfn 44"; }
    SUBCASE("whether it has DCMI: not in this state") { what = "fail 1 213 fail_netfn 44"; }
    SUBCASE("its chassis: out of time") { what = "fail 1 195 fail_netfn 0"; }
    CAPTURE(what);
    helper_process helper(flags, bmc.shim_environment(what));
    REQUIRE(helper.until(busy));
    bmc.set_shim("");
    REQUIRE(helper.until_status(true));
    CHECK(helper.last<ipmi::bmc>()->dcmi);
    CHECK(helper.last<inventory_end>()->count == 14);
  }
  SUBCASE("always: it is taken without in the end") {
    flags = flags_of(bmc);
    helper_process helper(flags, bmc.shim_environment("fail 1 192 fail_netfn 44"));
    REQUIRE(helper.until(busy));
    REQUIRE(helper.until_status(true));
    CHECK_FALSE(helper.last<ipmi::bmc>()->dcmi);
    CHECK(helper.last<inventory_end>()->count == 13);
  }
}

TEST_CASE("a sensor that the BMC has no time for is absent alone; a driver without a BMC is a lost link") {
  bmc_sim bmc;
  auto flags = flags_of(bmc);
  // The look at the repository would find a dead BMC, too.
  flags.insert(flags.end(), {"--repository-period", "55s"});
  SUBCASE("Get Sensor Reading of one number: timeout (C3)") {
    helper_process helper(flags, bmc.shim_environment("fail 45 195 fail_netfn 4 fail_first 2"));
    REQUIRE(helper.until_status(true));
    const auto said = helper.count<status>();
    helper.say(every(100));
    CHECK(helper.next_reading("20.0.02")->reason == absence::timeout);
    CHECK(helper.next_value("20.0.03")->value == 58);
    CHECK(helper.next_value("dcmi.power")->value == 417);
    bmc.set_shim("");
    CHECK(helper.next_value("20.0.02")->value == 61);
    CHECK(helper.count<status>() == said);
  }
  SUBCASE("every command: timeout, as Linux' driver says of a BMC that is gone") {
    helper_process helper(flags, bmc.shim_environment());
    helper.say(every(100));
    REQUIRE(helper.next_value("20.0.02"));
    bmc.set_shim("fail_all 195");
    CHECK(helper.until(
        [](const auto& m) {
          const auto* s = std::get_if<status>(&m);
          return s != nullptr && !s->ok && s->message.find("stopped answering") != std::string::npos;
        },
        30s));
    bmc.set_shim("");
    CHECK(helper.until_status(true));
    CHECK(helper.next_value("20.0.02")->value == 61);
  }
}

TEST_CASE("DCMI power that is refused when a session begins stays in the list if the BMC can measure power") {
  bmc_sim bmc;
  const auto refused = [](int code) { return "fail 2 " + std::to_string(code) + " fail_netfn 44"; };
  SUBCASE("it comes when the BMC is ready") {
    int code = 0;
    SUBCASE("not in this state (D5)") { code = 213; }
    SUBCASE("unspecified (FF)") { code = 255; }
    CAPTURE(code);
    helper_process helper(flags_of(bmc), bmc.shim_environment(refused(code)));
    REQUIRE(helper.until_status(true));
    CHECK(helper.last<inventory_end>()->count == 14);
    helper.say(every(100));
    const auto first = helper.next_reading("dcmi.power");
    REQUIRE(first);
    CHECK(first->reason == absence::no_data);
    bmc.set_shim("");
    CHECK(helper.next_value("dcmi.power")->value == 417);
  }
  std::string what;
  SUBCASE("the BMC does not know the command (C1)") { what = refused(193); }
  SUBCASE("the BMC says that it cannot measure power") {
    bmc.write("values/dcmi_power_management", "0");
    what = refused(213);
  }
  if (what.empty()) return;
  helper_process helper(flags_of(bmc), bmc.shim_environment(what));
  REQUIRE(helper.until_status(true));
  CHECK(helper.last<inventory_end>()->count == 13);
}

TEST_CASE("a slow BMC: pings are answered between the questions of what it is and what it has") {
  bmc_sim bmc;
  const auto flags = flags_of(bmc);
  {
    helper_process helper(flags, bmc.shim_environment());
    REQUIRE(helper.until_status(true));  // from now on the descriptions are in the cache
  }
  helper_process helper(flags, bmc.shim_environment("delay_ms 100"));
  int answered = 0;
  REQUIRE(helper.until([&](const auto& m) {
    if (std::holds_alternative<hello>(m) || std::holds_alternative<pong>(m)) helper.say(ping{1});
    answered += std::holds_alternative<pong>(m) ? 1 : 0;
    return std::holds_alternative<inventory_end>(m);
  }));
  CHECK(answered >= 4);  // asked: who it is, chassis, DCMI power, three kinds of DCMI temperatures
}

TEST_CASE(
    "a BMC that hangs in the driver hangs the helper alone: it is silent, can be killed, and the next one "
    "works") {
  bmc_sim bmc;
  const std::vector<std::string> flags{"--cache-folder", bmc.folder() + "/cache", "--call-timeout", "500ms"};
  {
    helper_process helper(flags, bmc.shim_environment());
    helper.say(every(100));
    REQUIRE(helper.next_reading("20.0.01"));
    bmc.freeze();
    // On a slow machine the BMC's reading costs more of the budget, so the next read, which hangs, comes
    // later.
    const auto quiet = std::chrono::milliseconds(helper.last<hello>()->quiet_ms);
    const auto answers = [&] {
      helper.say(ping{1});
      return helper.until([](const auto& m) { return std::holds_alternative<pong>(m); }, quiet);
    };
    int answered = 0;
    while (answers() && ++answered < 60) helper.listen(500ms);
    CHECK(answered < 60);
    ::kill(helper.pid, SIGKILL);
    CHECK(helper.status() == -1);
  }
  bmc.thaw();
  helper_process next(flags, bmc.shim_environment());
  next.say(every(100));
  CHECK(next.next_reading("20.0.01"));
}

TEST_CASE("a BMC without DCMI has one sensor less, and one whose SDR has no inlet gives it by DCMI") {
  auto board = boards::two_sockets();
  SUBCASE("without") {
    board.dcmi_watts.reset();
    bmc_sim bmc(board);
    helper_process helper({"--cache-folder", bmc.folder() + "/cache"}, bmc.shim_environment());
    REQUIRE(helper.until_status(true));
    CHECK_FALSE(helper.last<ipmi::bmc>()->dcmi);
    CHECK(helper.last<inventory_end>()->count == 13);
  }
  SUBCASE("its temperatures") {
    board.sensors.erase(board.sensors.begin());
    bmc_sim bmc(board);
    bmc.write("values/dcmi_inlet", "-7");
    bmc.write("values/dcmi_cpu", "71");
    helper_process helper({"--cache-folder", bmc.folder() + "/cache"}, bmc.shim_environment());
    helper.say(every(200));
    CHECK(helper.next_reading("dcmi.inlet.1")->value == -7);
    CHECK(helper.sensor("dcmi.inlet.1")->role == sensor_role::inlet);
    CHECK(helper.sensor("dcmi.inlet.1")->entity == "air inlet");
    CHECK(helper.sensor("dcmi.cpu.1")->role == sensor_role::cpu);
    // The SDR has CPU temperatures of its own, so DCMI's are not read.
    CHECK(helper.last<plan>()->period_ms.count("dcmi.cpu.1") == 0);
    helper.say(interest{{{"dcmi.cpu.1", 100}}});
    CHECK(helper.next_reading("dcmi.cpu.1")->value == 71);
  }
}

TEST_CASE("a BMC with more than 255 sensors: those of LUN 1 and 3 have values of their own") {
  auto board = boards::two_sockets();
  auto temperature = board.sensors[1];  // CPU0 Temp, number 2, 61 °C
  temperature.name = "Far Temp";
  temperature.lun = 1;
  temperature.value = 74;
  temperature.m = 2;
  board.sensors.push_back(temperature);
  auto removed = temperature;
  removed.name = "Removed Temp";
  removed.number = 3;
  removed.in_board = false;
  board.sensors.push_back(removed);
  auto supply = board.states[0];  // PSU1 Status, number 11, present
  supply.name = "Far Status";
  supply.lun = 3;
  supply.asserted = {0, 1};
  board.states.push_back(supply);
  bmc_sim bmc(board);
  helper_process helper(flags_of(bmc), bmc.shim_environment());
  REQUIRE(helper.until_status(true));
  helper.say(every(100));
  CHECK(helper.next_value("20.1.02")->value == 74);
  CHECK(helper.next_value("20.0.02")->value == 61);
  CHECK(helper.next_reading("20.1.03")->reason == absence::no_data);
  bmc.scanning(2, false, 1);
  CHECK(helper.next("20.1.02", [](const reading& r) { return r.reason == absence::no_data; }));
  helper.say(interest{{{"20.3.0b", 100}, {"20.0.0b", 100}}});
  CHECK(helper.next_value("20.3.0b")->state == 3u);
  CHECK(helper.next_value("20.0.0b")->state == 1u);
  bmc.set_shim("fail 45 192 fail_netfn 4");  // busy
  CHECK(helper.next("20.3.0b", [](const reading& r) { return r.reason == absence::timeout; }));
}

TEST_CASE("DCMI power brings what the BMC saw over its window, where it has one and measures") {
  bmc_sim bmc;
  bmc.write("values/dcmi_statistics", "380 402 450 60000");
  helper_process helper({"--cache-folder", bmc.folder() + "/cache"}, bmc.shim_environment());
  helper.say(every(100));
  const auto until = [&](const auto& fits) {
    return helper.until([&](const auto& m) {
      const auto* r = std::get_if<reading>(&m);
      return r != nullptr && r->key == "dcmi.power" && fits(*r);
    });
  };
  CHECK(until([](const reading& r) {
    return r.value == 417 && r.over == statistics{380, 402, 450, 60'000};
  }));
  // A window of no length, and numbers that are none.
  for (const char* none : {"380 402 450 0", "0 0 0 60000", "380 402 65535 60000"}) {
    CAPTURE(none);
    bmc.write("values/dcmi_statistics", none);
    CHECK(until([](const reading& r) { return r.value == 417 && !r.over; }));
    bmc.write("values/dcmi_statistics", "1 2 3 1000");
    CHECK(until([](const reading& r) { return r.over == statistics{1, 2, 3, 1'000}; }));
  }
  bmc.write("values/dcmi_watts", "off");
  CHECK(until([](const reading& r) { return r.reason == absence::no_data && !r.value && !r.over; }));
}

TEST_CASE("a link in the place of the kept descriptions is replaced, and where it leads nothing changes") {
  bmc_sim bmc;
  temp_folder folder;
  folder.write("others", "not the helper's\n");
  const std::string kept = folder / "cache/sdr-_dev_ipmi0";
  std::filesystem::create_directory(folder / "cache");
  std::filesystem::create_symlink(folder / "others", kept);
  helper_process helper({"--cache-folder", folder / "cache", "--retry", "100ms"}, bmc.shim_environment());
  REQUIRE(helper.until_status(true));
  const auto others = read_file(folder / "others", 4096);
  REQUIRE(others);
  CHECK(*others == "not the helper's\n");
  CHECK(std::filesystem::symlink_status(kept).type() == std::filesystem::file_type::regular);
}

TEST_CASE("in-band without a device: one sentence with the remedy, and no end of the program") {
  temp_folder folder;
  helper_process helper({"--device", folder / "ipmi0", "--cache-folder", folder / "cache"});
  REQUIRE(helper.until([](const auto& m) {
    const auto* s = std::get_if<status>(&m);
    return s != nullptr && s->message.find("there is no IPMI device") == 0;
  }));
  CHECK(helper.last<status>()->message.find("load ipmi_si and ipmi_devintf") != std::string::npos);
  CHECK_FALSE(helper.last<status>()->permanent);
}

TEST_SUITE_END();
