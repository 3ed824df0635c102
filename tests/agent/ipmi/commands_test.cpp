// Which commands reach a BMC while the helper runs.
#include "tests/agent/ipmi/helper_process.hpp"
#include "tests/agent/ipmi/lan_fixture.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <sstream>

using namespace binnacle;
using namespace binnacle::ipmi;
using namespace binnacle::support;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("agent/ipmi/commands");

TEST_CASE("only commands that read, open a session or reserve are ever sent") {
  auto board = boards::two_sockets();
  auto far = board.sensors[1];
  far.name = "Far Temp";
  far.lun = 1;
  board.sensors.push_back(far);
  lan_fixture f(board);
  f.bmc.note_commands();
  const auto log = f.bmc.folder() + "/commands";
  {
    helper_process over_lan(f.flags());
    over_lan.say(every(100));
    REQUIRE(over_lan.next_reading("dcmi.power"));
    over_lan.say(interest{{{"20.0.0a", 50}, {"20.0.0b", 50}}});
    REQUIRE(over_lan.next_reading("20.0.0b"));
    REQUIRE(over_lan.next_reading("20.1.02"));
    f.bmc.scanning(1, false);
    over_lan.listen(500ms);
    over_lan.hang_up();
    CHECK(over_lan.status() == 0);
    helper_process in_band({"--cache-folder", f.bmc.folder() + "/other-cache"},
                           f.bmc.shim_environment("log " + log));
    in_band.say(every(100));
    REQUIRE(in_band.next_reading("dcmi.power"));
    REQUIRE(in_band.next_reading("20.1.02"));
    in_band.listen(300ms);
  }
  const std::set<std::string> allowed{
      "0x0 0x0",    // Get Chassis Capabilities (FreeIPMI 1.6.15)
      "0x0 0x1",    // Get Chassis Status
      "0x4 0x2d",   // Get Sensor Reading
      "0x6 0x1",    // Get Device ID
      "0x6 0x8",    // Get Device GUID
      "0x6 0x37",   // Get System GUID
      "0x6 0x38",   // Get Channel Authentication Capabilities
      "0x6 0x39",   // Get Session Challenge
      "0x6 0x3a",   // Activate Session
      "0x6 0x3b",   // Set Session Privilege Level
      "0x6 0x3c",   // Close Session
      "0xa 0x20",   // Get SDR Repository Info
      "0xa 0x22",   // Reserve SDR Repository
      "0xa 0x23",   // Get SDR
      "0x2c 0x1",   // DCMI: Get Capabilities Info
      "0x2c 0x2",   // DCMI: Get Power Reading
      "0x2c 0x10",  // DCMI: Get Temperature Readings
  };
  const auto arrived = f.bmc.commands();
  CHECK(arrived.size() > 100);
  for (const auto& command : arrived) {
    CAPTURE(command);
    CHECK(allowed.count(command) == 1);
  }
  // What the program sent to the device, as the shim logs it ("0x06 0x01").
  std::ifstream in(log);
  std::size_t sent = 0;
  unsigned netfn = 0, command = 0;
  for (; in >> std::hex >> netfn >> command; ++sent) {
    std::ostringstream name;
    name << std::hex << "0x" << netfn << " 0x" << command;
    CAPTURE(name.str());
    CHECK(allowed.count(name.str()) == 1);
  }
  CHECK(sent > 50);
}

TEST_SUITE_END();
