// The bmc source with a helper that is a few lines of shell: what it does with the helper's messages.
#include "agent/sources/bmc/bmc.hpp"
#include "common/async/task_group.hpp"
#include "tests/agent/sources/bmc/boards.hpp"
#include "tests/agent/sources/bmc/run_until.hpp"
#include "tests/agent/support.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;
using agent::test::reading_of;
using agent::test::sensor_of;
using agent::test::shown;

namespace {

const metrics::label_set inlet{{"sensor", "Inlet Temp"}, {"entity", "system board 1"}, {"id", "20.0.1"}};

std::string lines(const std::vector<ipmi::from_helper>& messages) {
  std::string text;
  for (const auto& m : messages) text += ipmi::encode(m);
  return text;
}

/// A source whose helper runs `script` in a folder with these files: begin (hello and an inventory), plan
/// (with a first reading), more (a second reading).
struct sourced {
  explicit sourced(const std::string& script) {
    folder.write(
        "begin",
        lines({ipmi::hello{.version = "test", .quiet_ms = 1000}, ipmi::status{false, "not asked yet"},
               ipmi::bmc{.address = "/dev/ipmi0", .manufacturer = "Maker", .firmware = "1.2"},
               sensor_of("20.0.1", "Inlet Temp"), ipmi::inventory_end{1}, ipmi::status{true}}));
    folder.write("plan", lines({ipmi::plan{{{"20.0.1", 1000}}}, reading_of("20.0.1", 23, 1),
                                ipmi::stats{.requests = 9}}));
    folder.write("more", lines({reading_of("20.0.1", 24, 1)}));
    bmc_options o;
    o.helper = "/bin/sh";
    o.arguments = {"-c", "cd " + folder.path() + "; " + script};
    source.emplace(std::move(o), logger("test", log_level::off));
    source->start(tasks, [this] { ++arrivals; });
  }
  ~sourced() { tasks.cancel(); }
  bool until(const std::function<bool()>& done) { return agent::test::run_until(loop, done); }
  bool reads(const std::string& value) {
    return until([&] {
      return source->read(out).has_value() && shown(out, "bmc_temperature_celsius", inlet) == value;
    });
  }

  support::temp_folder folder;
  async::loop loop{1};
  async::task_group tasks{loop, logger("test", log_level::off)};
  board out;
  int arrivals = 0;
  std::optional<bmc_source> source;
};

TEST_SUITE_BEGIN("agent/sources/bmc/source");

TEST_CASE("what the helper says is on the board, and asked to be read at once") {
  sourced s("cat begin; read select; cat plan; exec sleep 1000");
  REQUIRE(s.source->discover(s.out).has_value());
  CHECK_FALSE(s.source->read(s.out).has_value());  // the BMC has not been asked yet
  REQUIRE(s.reads("23.0"));
  CHECK(s.arrivals > 0);
  CHECK(shown(s.out, "bmc_sensors") == "1");
  CHECK(shown(s.out, "bmc_requests_total") == "9");
  CHECK(shown(s.out, "bmc_info", {{"manufacturer", "Maker"}, {"product", "0"}, {"firmware", "1.2"}}) == "1");
  CHECK(s.source->limitation().empty());
  CHECK(s.source->events()[0].event == "helper_starts");
  CHECK(s.source->events()[0].count == 1);
}

TEST_CASE("what policies watch is told to the helper, also what they watched before it was there") {
  sourced s(
      R"(cat begin; read select; cat plan; read interest; case "$interest" in *'"20.0.1":500'*) cat more;; esac; exec sleep 1000)");
  const wire::interest wanted{{{"bmc_temperature_celsius", 500}, {"bmc_fan_rpm", 100}}};
  SUBCASE("before") {
    s.source->set_interest(wanted);
    REQUIRE(s.source->discover(s.out).has_value());
  }
  SUBCASE("later") {
    REQUIRE(s.source->discover(s.out).has_value());
    REQUIRE(s.reads("23.0"));
    s.source->set_interest(wanted);
  }
  CHECK(s.reads("24.0"));
}

TEST_CASE("a helper that ends takes the source with it until it is back") {
  sourced s(
      "cat begin; read select; cat plan; [ -f twice ] && exec sleep 1000; touch twice; sleep 0.2; exit 7");
  REQUIRE(s.source->discover(s.out).has_value());
  REQUIRE(s.reads("23.0"));
  REQUIRE(s.until([&] { return !s.source->read(s.out).has_value(); }));
  CHECK(s.source->read(s.out).error().message.find("status 7") != std::string::npos);
  s.out.set_without_value("bmc", absence::no_data);
  REQUIRE(s.reads("23.0"));
  CHECK(s.source->events()[0].count == 2);
}

TEST_CASE("a BMC of which nothing is selected says so") {
  sourced s("cat begin; read select; echo '{\"type\":\"plan\",\"period_ms\":{}}'; exec sleep 1000");
  REQUIRE(s.source->discover(s.out).has_value());
  REQUIRE(s.until([&] { return s.source->read(s.out).has_value() && !s.source->limitation().empty(); }));
  CHECK(s.source->limitation().find("bmc-sensors") != std::string::npos);
}

TEST_CASE("0 W of DCMI are told in the source's status and by --probe, with what mends it") {
  sourced s("cat begin; read select; cat plan; read more; exec sleep 1000");
  s.folder.write(
      "begin", lines({ipmi::hello{.version = "test", .quiet_ms = 1000}, ipmi::status{false, "not asked yet"},
                      ipmi::bmc{.address = "/dev/ipmi0", .manufacturer = "Maker", .firmware = "1.2"},
                      sensor_of("dcmi.power", "DCMI Power", ipmi::sensor_kind::power, "watts"),
                      ipmi::inventory_end{1}, ipmi::status{true}}));
  s.folder.write("plan", lines({ipmi::plan{{{"dcmi.power", 1000}}}, reading_of("dcmi.power", 0, 1)}));
  const auto found = s.source->probe();
  REQUIRE(found.size() == 1);
  CHECK(found[0].how == finding::grade::limited);
  CHECK(found[0].why == "DCMI Power: says 0 W or less although the machine is on, or more than 100 kW");
  CHECK(found[0].remedy.find("reset the BMC") != std::string::npos);
  CHECK(found[0].remedy.find("bmc-exclude") == std::string::npos);
  REQUIRE(s.source->discover(s.out).has_value());
  CHECK(shown(s.out, "bmc_sensors") == "not_read_yet");  // host_power_watts waits for it
  REQUIRE(s.until([&] { return s.source->read(s.out).has_value() && !s.source->limitation().empty(); }));
  CHECK(s.source->limitation().find("DCMI Power: says 0 W") != std::string::npos);
  CHECK(shown(s.out, "bmc_dcmi_power_watts") == "implausible");
}

TEST_CASE("without a device no helper is started, and the remedy names the missing module") {
  support::temp_folder sys;
  bmc_options o;
  o.helper = "/bin/sh";
  o.device = sys / "ipmi0";
  o.sys_root = sys.path();
  std::string remedy = "take bmc out of sources";
  SUBCASE("nothing there") {}
  SUBCASE("the firmware knows of a BMC") {
    sys.write("firmware/dmi/entries/38-0/type", "38");
    remedy = "modprobe ipmi_si ipmi_devintf";
  }
  SUBCASE("the driver is there but no device") {
    sys.write("module/ipmi_si/refcnt", "1");
    remedy = "modprobe ipmi_devintf";
  }
  SUBCASE("the kernel has the device, this container has not") {
    sys.write("class/ipmi/ipmi0/dev", "245:0");
    remedy = "mount it";
  }
  const auto obstacle = obstacle_to(o);
  REQUIRE(obstacle.has_value());
  CHECK(obstacle->code == errc::unsupported);
  CHECK(obstacle->remedy.find(remedy) != std::string::npos);
  board out;
  bmc_source source(o, logger("test", log_level::off));
  const auto found = source.discover(out);
  REQUIRE_FALSE(found.has_value());
  CHECK(found.error().message.find(remedy) != std::string::npos);
  CHECK(shown(out, "bmc_sensors") == "no such series");  // so host_power_watts waits for nothing
  CHECK(source.probe()[0].how == finding::grade::absent);
}

TEST_SUITE_END();

}  // namespace
