#include "agent/sources/host/part_inventory.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace part_inventory_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;

namespace {

/// A board, and the inventory of one sum of its series.
struct shelf {
  board out;
  board::group_ref group = out.add_group("os", "", 1s, 10s);
  part_inventory parts;

  board::series_ref add(const char* family, metrics::label_set labels) {
    return out.add_series(group, family, std::move(labels));
  }
  board::series_ref zone(const char* name) {
    return add("os_powercap_power_watts", {{"chip", "arm-scmi"}, {"zone", name}});
  }
  board::series_ref supply(const char* name, const char* id, const char* scope = "node") {
    return add("bmc_power_watts",
               {{"sensor", name}, {"entity", "power supply"}, {"id", id}, {"scope", scope}});
  }
  void take_stock(const std::vector<board::series_ref>& found) { parts.take_stock(found, out); }
  /// All that are present are in a value.
  void count() {
    for (std::size_t i = 0; i < parts.present().size(); ++i) parts.count(i);
  }
  std::vector<std::string> missing() const {
    std::vector<std::string> names;
    for (const auto& p : parts.missing()) names.push_back(p.name());
    return names;
  }
};

}  // namespace

TEST_SUITE_BEGIN("agent/sources/host/part_inventory");

TEST_CASE("a part that counted and has left the board is missing until it is back") {
  shelf s;
  const auto first = s.zone("SOC 0"), second = s.zone("SOC 1");
  s.take_stock({first, second});
  CHECK(s.parts.present().size() == 2);
  CHECK(s.parts.missing().empty());
  s.count();
  s.out.remove_series(second);
  const std::vector<std::string> gone{"os_powercap_power_watts{chip=\"arm-scmi\",zone=\"SOC 1\"}"};
  for (int looks = 0; looks < 3; ++looks) {
    s.take_stock({first});
    CHECK(s.parts.present().size() == 1);
    CHECK(s.missing() == gone);
  }
  s.out.remove_series(first);
  s.take_stock({});
  CHECK(s.missing().size() == 2);
  const auto back = s.zone("SOC 1");
  s.take_stock({back});
  REQUIRE(s.parts.present().size() == 1);
  CHECK(s.parts.present()[0].ref == back);
  CHECK_MESSAGE(s.parts.present()[0].counted, "it counted before it went");
  CHECK(s.missing() == std::vector<std::string>{"os_powercap_power_watts{chip=\"arm-scmi\",zone=\"SOC 0\"}"});
}

TEST_CASE("a part that never counted may go") {
  shelf s;
  const auto first = s.zone("SOC 0"), second = s.zone("SOC 1");
  s.take_stock({first, second});
  s.parts.count(0);
  s.out.remove_series(second);
  s.take_stock({first});
  CHECK(s.parts.missing().empty());
  CHECK(s.parts.present()[0].counted);
}

TEST_CASE("a sensor of the BMC is known by its name, or if that is new by its id") {
  shelf s;
  const auto alone = s.supply("Input", "sensor 1");
  s.take_stock({alone});
  s.count();
  s.out.remove_series(alone);
  const auto is_back_as = [&s](const char* name, const char* id) {
    s.take_stock({s.supply(name, id)});
    return s.parts.missing().empty() && s.parts.present()[0].counted;
  };
  SUBCASE("another name") { CHECK(is_back_as("Input (power supply 1)", "sensor 1")); }
  SUBCASE("another id") { CHECK(is_back_as("Input", "sensor 2")); }
  SUBCASE("another id, and with its entity because another sensor has its name") {
    CHECK(is_back_as("Input (power supply)", "sensor 2"));
  }
  SUBCASE("both are others") {
    CHECK_FALSE(is_back_as("Output", "sensor 2"));
    CHECK(s.missing() == std::vector<std::string>{
                             "bmc_power_watts{sensor=\"Input\",entity=\"power supply\",id=\"sensor 1\"}"});
    CHECK_FALSE(s.parts.present()[0].counted);
  }
}

// OpenBMC numbers its sensors anew when one comes or goes.
TEST_CASE("when a BMC's ids move on, a supply that is gone is missing, whoever has its id") {
  shelf s;
  std::vector<board::series_ref> old{s.supply("PS1", "1"), s.supply("PS2", "2")};
  s.take_stock(old);
  s.count();
  for (const auto ref : old) s.out.remove_series(ref);
  const auto gone = [](const char* name, const char* id) {
    return std::vector<std::string>{std::string("bmc_power_watts{sensor=\"") + name +
                                    "\",entity=\"power supply\",id=\"" + id + "\"}"};
  };
  SUBCASE("none is") {
    s.take_stock({s.supply("PS1", "2"), s.supply("PS2", "3")});
    CHECK(s.parts.missing().empty());
    for (const auto& p : s.parts.present()) CHECK(p.counted);
  }
  SUBCASE("the other supply has it") {
    s.take_stock({s.supply("PS2", "1")});
    CHECK(s.missing() == gone("PS1", "1"));
    CHECK(s.parts.present()[0].counted);
  }
  SUBCASE("a sensor that does not count has it") {
    const auto first = s.supply("PS1", "1");
    s.supply("CPU", "2", "part");
    s.take_stock({first});
    CHECK(s.missing() == gone("PS2", "2"));
  }
  SUBCASE("a sensor of the whole machine counts now, and both have new ids") {
    s.supply("PS1", "2", "part");
    s.supply("PS2", "3", "part");
    s.take_stock({s.supply("System Power", "1")});
    CHECK(s.parts.missing().empty());
  }
}

TEST_CASE("of two sensors with one name and entity, the one that is gone is missing") {
  shelf s;
  std::vector<board::series_ref> old{s.supply("Input (1)", "1"), s.supply("Input (2)", "2")};
  s.take_stock(old);
  s.count();
  for (const auto ref : old) s.out.remove_series(ref);
  const char* scope = "node";
  SUBCASE("the other one counts") {}
  SUBCASE("the other one does not count any more") { scope = "part"; }
  const auto left = s.supply("Input", "1", scope);
  s.take_stock(std::string(scope) == "node" ? std::vector{left} : std::vector<board::series_ref>{});
  CHECK(s.missing() ==
        std::vector<std::string>{"bmc_power_watts{sensor=\"Input (2)\",entity=\"power supply\",id=\"2\"}"});
}

TEST_CASE("a part that never had a value and is silent for a minute without a break is an empty bay") {
  shelf s;
  const std::vector<board::series_ref> all{s.supply("PS1", "1"), s.supply("PS2", "2")};
  s.take_stock(all);
  s.parts.count(0);
  instant now{1h};
  const auto after = [&](duration time, bool silent) {
    now += time;
    return s.parts.is_empty_bay(1, silent, now, 60s);
  };
  CHECK_FALSE(after(0s, true));
  CHECK_FALSE(after(59s, true));
  SUBCASE("for ever, though it may be read late or the board change") {
    CHECK(after(1s, true));
    CHECK_FALSE(after(1s, false));
    s.take_stock(all);
    CHECK(after(1s, true));
  }
  SUBCASE("the minute goes on while the board changes") {
    s.take_stock(all);
    CHECK(after(1s, true));
  }
  SUBCASE("not after a break") {
    CHECK_FALSE(after(1s, false));
    CHECK_FALSE(after(1s, true));
    CHECK_FALSE(after(59s, true));
    CHECK(after(1s, true));
  }
  SUBCASE("not once it has had a value") {
    CHECK(after(1s, true));
    s.parts.count(1);
    CHECK_FALSE(after(1h, true));
  }
  CHECK_FALSE(s.parts.is_empty_bay(0, true, now + 1h, 60s));
}

TEST_CASE("a part that another series contains now is not missing") {
  shelf s;
  board::series_ref old = board::no_series, whole = board::no_series;
  SUBCASE("a supply, when a sensor of the whole machine comes") {
    old = s.supply("PS1", "sensor 1");
    s.take_stock({old});
    s.count();
    s.out.remove_series(old);
    s.supply("PS1", "sensor 1", "part");
    whole = s.supply("System Power", "sensor 9");
  }
  SUBCASE("a zone, when one around it comes") {
    old = s.zone("CLUSTER");
    s.take_stock({old});
    s.count();
    s.out.remove_series(old);
    s.add("os_powercap_part_power_watts", {{"chip", "arm-scmi"}, {"zone", "CLUSTER"}});
    whole = s.zone("SOC");
  }
  s.take_stock({whole});
  CHECK(s.parts.missing().empty());
  CHECK(s.parts.present().size() == 1);
}

TEST_CASE("a part that is on the board and is not found any more is forgotten, not missing") {
  shelf s;
  const auto memory = s.add("rapl_zone_power_watts", {{"zone", "dram"}, {"package", "0"}});
  s.take_stock({memory});
  s.count();
  s.take_stock({});
  CHECK(s.parts.present().empty());
  CHECK(s.parts.missing().empty());
  s.take_stock({memory});
  CHECK_FALSE(s.parts.present()[0].counted);
}

TEST_CASE("no more missing parts are kept than the bound") {
  shelf s;
  std::vector<board::series_ref> all;
  for (std::size_t i = 0; i < part_inventory::most_missing + 10; ++i)
    all.push_back(s.zone(std::to_string(i).c_str()));
  s.take_stock(all);
  s.count();
  for (const auto ref : all) s.out.remove_series(ref);
  s.take_stock({});
  CHECK(s.parts.missing().size() == part_inventory::most_missing);
}

TEST_SUITE_END();

}  // namespace part_inventory_test
