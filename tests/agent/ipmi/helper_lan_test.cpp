// The helper against a BMC over LAN: OpenIPMI's simulator.
#include "tests/agent/ipmi/helper_process.hpp"
#include "tests/agent/ipmi/lan_fixture.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

using namespace binnacle;
using namespace binnacle::ipmi;
using namespace binnacle::support;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("agent/ipmi/helper_lan");

TEST_CASE("over LAN: the board's sensors are found and read, and their values follow the board's") {
  lan_fixture f;
  helper_process helper(f.flags());
  REQUIRE(helper.until_status(true));
  const auto* h = helper.last<hello>();
  REQUIRE(h != nullptr);
  CHECK(h->protocol == protocol_version);
  CHECK(h->quiet_ms == 4'000);

  const auto* who = helper.last<bmc>();
  REQUIRE(who != nullptr);
  CHECK(who->guid == "a1234567-89ab-cdef-a123-456789abcdef");
  CHECK(who->firmware == "9.08");
  CHECK(who->ipmi_version == "2.0");
  CHECK(who->sdr_records == 13);
  CHECK(who->dcmi);
  CHECK(helper.last<inventory_end>()->count == 14);

  const auto* inlet = helper.sensor("20.0.01");
  REQUIRE(inlet != nullptr);
  CHECK(inlet->name == "Inlet Temp");
  CHECK(inlet->entity == "air inlet");
  CHECK(inlet->kind == sensor_kind::temperature);
  CHECK(inlet->unit == "celsius");
  CHECK(inlet->role == sensor_role::inlet);
  CHECK(inlet->limits == thresholds{{}, {}, {}, 40, 45, 50});
  CHECK(helper.sensor("20.0.03")->role == sensor_role::cpu);
  CHECK(helper.sensor("20.0.03")->instance == 2);
  CHECK(helper.sensor("20.0.07")->role == sensor_role::psu_input);
  CHECK(helper.sensor("20.0.09")->role == sensor_role::system_power);
  CHECK(helper.sensor("20.0.05")->unit == "rpm");
  CHECK(helper.sensor("20.0.0b")->kind == sensor_kind::state);
  CHECK(helper.sensor("dcmi.power")->origin == sensor_origin::dcmi);

  // The helper reads nothing before an agent says what to read.
  helper.listen(300ms);
  CHECK(helper.count<reading>() == 0);
  helper.say(every(200));
  const auto before = boot_clock::now();
  const auto first = helper.next_value("20.0.01");
  REQUIRE(first);
  CHECK(first->value == 23);
  CHECK(first->read_at_ns > to_ns(before) - 1'000'000'000);
  CHECK(first->read_at_ns <= to_ns(boot_clock::now()));
  CHECK(helper.next_value("20.0.05")->value == 9'000);
  CHECK(helper.next_value("chassis.power")->words == std::vector<std::string>{"off"});
  const auto watts = helper.next_value("dcmi.power");
  REQUIRE(watts);
  CHECK(watts->value == 417);
  CHECK(watts->over == statistics{417, 417, 417, 1'000});
  CHECK(helper.last<plan>()->period_ms.count("20.0.0a") == 0);  // a voltage: not on the default list

  f.bmc.set("Inlet Temp", 44);
  f.bmc.set_dcmi_watts(550);
  CHECK(helper.until([](const auto& m) {
    const auto* r = std::get_if<reading>(&m);
    return r != nullptr && r->key == "20.0.01" && r->value == 44;
  }));
  const auto watts_are = [&](const auto& wanted) {
    return helper.until([&](const auto& m) {
      const auto* r = std::get_if<reading>(&m);
      return r != nullptr && r->key == "dcmi.power" && wanted(*r);
    });
  };
  const auto are_550 = [](const reading& r) { return r.value == 550; };
  const auto are_none = [](const reading& r) { return r.reason == absence::no_data && !r.value; };
  CHECK(watts_are(are_550));
  f.bmc.set_dcmi_watts(0);  // the agent says that this cannot be (reading_rules.hpp)
  CHECK(watts_are([](const reading& r) { return r.value == 0; }));
  f.bmc.set_dcmi_watts(0xffff);  // all bits set: no number
  CHECK(watts_are(are_none));
  f.bmc.set_dcmi_watts(550);
  CHECK(watts_are(are_550));

  f.bmc.scanning(2, false);
  CHECK(helper.until([](const auto& m) {
    const auto* r = std::get_if<reading>(&m);
    return r != nullptr && r->key == "20.0.02" && r->reason == absence::no_data;
  }));
  f.bmc.write("values/dcmi_watts", "inactive");
  CHECK(watts_are(are_none));
  // A sensor that is not on the default list is read if a policy waits for it, and its number is exact.
  helper.say(interest{{{"20.0.0a", 100}}});
  const auto rail = helper.next_reading("20.0.0a");
  REQUIRE(rail);
  CHECK(*rail->value == doctest::Approx(12.096).epsilon(1e-9));
  CHECK(helper.last<plan>()->period_ms.at("20.0.0a") < 200);

  helper.hang_up();
  CHECK(helper.status() == 0);
  CHECK(helper.log().find(bmc_admin_password) == std::string::npos);
}

TEST_CASE("a user of the lowest level reads all but what the BMC keeps for others; IPMI 1.5 works, too") {
  lan_fixture f;
  f.write_credentials(bmc_user, bmc_user_password);
  auto flags = f.flags("user");
  SUBCASE("2.0") {}
  SUBCASE("1.5") { flags.insert(flags.end(), {"--protocol", "1.5"}); }
  helper_process helper(flags);
  REQUIRE(helper.until_status(true));
  helper.say(every(200));
  CHECK(helper.next_value("20.0.02")->value == 61);
  CHECK(helper.next_reading("dcmi.power")->reason == absence::permission);
}

TEST_CASE("a wrong password is tried once, and again only when the file has changed") {
  lan_fixture f;
  f.write_credentials(bmc_admin, "hunter2");
  helper_process helper(f.flags());
  REQUIRE(helper.until([](const auto& m) {
    const auto* s = std::get_if<status>(&m);
    return s != nullptr && s->permanent;
  }));
  CHECK(helper.last<status>()->message.find("does not accept the user or password") != std::string::npos);
  // A second try would come after 100 ms, find no BMC and report that.
  f.bmc.kill();
  const auto said = helper.count<status>();
  helper.listen(2'500ms);
  CHECK(helper.count<status>() == said);
  CHECK(helper.last<stats>()->sessions == 0);
  f.bmc.start();
  f.write_credentials(bmc_admin, bmc_admin_password);
  CHECK(helper.until_status(true));
  CHECK(helper.log().find("hunter2") == std::string::npos);
}

TEST_CASE("what the BMC does not offer is asked for again: it may be starting, or somebody allows it") {
  lan_fixture f;
  f.write_credentials(bmc_user, bmc_user_password);
  auto flags = f.flags("operator");
  flags.insert(flags.end(), {"--protocol", "1.5"});
  helper_process helper(flags);
  REQUIRE(helper.until([](const auto& m) {
    const auto* s = std::get_if<status>(&m);
    return s != nullptr && s->message.find("the privilege level asked for") != std::string::npos;
  }));
  CHECK_FALSE(helper.last<status>()->permanent);
  auto mended = boards::two_sockets();
  mended.user_level = "admin";
  f.bmc.replace(mended);
  CHECK(helper.until_status(true));
}

TEST_CASE("a BMC that dies, hangs or restarts is found again; meanwhile the helper answers in time") {
  lan_fixture f;
  helper_process helper(f.flags());
  helper.say(every(200));
  REQUIRE(helper.next_reading("20.0.01"));
  const auto quiet = std::chrono::milliseconds(helper.last<hello>()->quiet_ms);
  const auto silenced = std::chrono::steady_clock::now();
  SUBCASE("killed and started: its sessions are gone") { f.bmc.kill(); }
  SUBCASE("frozen and thawed") { f.bmc.freeze(); }
  REQUIRE(helper.until_status(false));
  const auto waited =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - silenced);
  CHECK(helper.last<status>()->message.find(f.bmc.address()) == 0);
  CHECK_FALSE(helper.last<status>()->permanent);
  helper.say(ping{5});
  CHECK(helper.until([](const auto& m) { return std::holds_alternative<pong>(m); }, quiet));
  f.bmc.thaw();
  f.bmc.kill();
  f.bmc.start();
  REQUIRE(helper.until_status(true));
  CHECK(helper.next_value("20.0.01")->value == 23);
  // The time for which the helper waited in vain must not count as the sensor's latency. At 5 % of the BMC's
  // time the period would become 20 times as long.
  CHECK(std::chrono::milliseconds(helper.last<plan>()->period_ms.at("20.0.01")) < 10 * waited);
}

TEST_CASE("descriptions are read once and kept for this BMC as it is") {
  lan_fixture f;
  const auto rebuilds = [&](const bmc_sim&) {
    helper_process helper(f.flags());
    REQUIRE(helper.until_status(true));
    return helper.log().find("reading the descriptions") != std::string::npos;
  };
  CHECK(rebuilds(f.bmc));
  CHECK_FALSE(rebuilds(f.bmc));
  const auto cache = f.bmc.folder() + "/cache";
  struct ::stat about {};
  REQUIRE(::stat(cache.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777u) == 0700);
  std::string file;
  for (const auto& e : std::filesystem::directory_iterator(cache)) {
    if (e.path().extension() != ".bmc") file = e.path();
  }
  SUBCASE("a damaged file is made anew") {
    std::fstream damaged(file, std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(100);
    damaged << "damage";
    damaged.close();
    CHECK(rebuilds(f.bmc));
  }
  SUBCASE("half a file") {
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    CHECK(rebuilds(f.bmc));
  }
  SUBCASE("an empty one") {
    std::filesystem::resize_file(file, 0);
    CHECK(rebuilds(f.bmc));
  }
  SUBCASE("another BMC at the same address, with as many sensors") {
    auto other = boards::two_sockets();
    other.guid = "00112233445566778899aabbccddeeff";
    other.sensors[0].name = "Other Inlet";
    f.bmc.replace(other);
    helper_process helper(f.flags());
    REQUIRE(helper.until_status(true));
    CHECK(helper.sensor("20.0.01")->name == "Other Inlet");
  }
  CHECK_FALSE(rebuilds(f.bmc));
}

TEST_CASE("sensors that are added or taken out while the helper runs") {
  lan_fixture f;
  helper_process helper(f.flags());
  helper.say(every(200));
  REQUIRE(helper.next_reading("20.0.01"));
  auto changed = boards::two_sockets();
  changed.sensors.push_back({13, "GPU Temp", "Temperature", "0x0b", 1, "degrees_C", 70});
  changed.sensors[3].in_board = false;  // DIMM Temp: the SDR still lists it
  f.bmc.replace(changed);
  REQUIRE(helper.until_status(true));
  const auto gpu = helper.next_reading("20.0.0d");
  REQUIRE(gpu);
  CHECK(gpu->value == 70);
  CHECK(helper.sensor("20.0.0d")->entity == "add-in card");
  CHECK(helper.until([](const auto& m) {
    const auto* r = std::get_if<reading>(&m);
    return r != nullptr && r->key == "20.0.04" && r->reason != absence::none;
  }));
}

// Waits for the helper's own look at the repository. If a starved BMC lost its session, the new session would
// find the description by itself; the long timeout of calls prevents that.
TEST_CASE("a description that is added under a living session is found") {
  lan_fixture f;
  auto flags = f.flags("admin", "30s");
  flags.insert(flags.end(), {"--repository-period", "1s"});
  helper_process helper(flags);
  helper.say(every(200));
  REQUIRE(helper.next_reading("20.0.01"));
  f.bmc.add_description(13, "GPU Temp");
  REQUIRE(helper.until([](const auto& m) {
    const auto* one = std::get_if<sensor>(&m);
    return one != nullptr && one->key == "20.0.0d";
  }));
  CHECK(helper.sensor("20.0.0d")->name == "GPU Temp");
  CHECK(helper.log().find("the BMC's sensors have changed") != std::string::npos);
  CHECK(helper.next_value("20.0.01")->value == 23);
}

TEST_SUITE_END();
