#pragma once

#include "agent/sources/host/host.hpp"
#include "agent/sources/rapl/rapl.hpp"
#include "tests/agent/support.hpp"
#include "tests/support/machine/powercap_sim.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Machines whose sensors lie, for the tests of this folder.
namespace binnacle::agent::plausibility {

using namespace binnacle::support;
using agent::test::fake_clock;
using agent::test::shown;
using namespace std::chrono_literals;

/// A simulated machine that both sources read, as the sampler would.
struct machine {
  explicit machine(std::vector<zone_spec> zones, double watts = 100, duration step = 1s)
      : period(step),
        sim(sys.path(), std::move(zones), watts, 0),
        rapl({.sys_root = sys.path(), .proc_root = sys / "proc", .pause = [](duration) {}}, clock.source()),
        host(host_options{.period = 1s}, clock.source()) {}

  void begin() {
    REQUIRE(rapl.discover(out));
    read();
  }
  void read() {
    REQUIRE(rapl.read(out));
    REQUIRE(host.read(out));
  }
  void pass(duration time) {
    for (duration t{}; t < time; t += period) {
      sim.advance(period);
      clock.now += period;
      read();
    }
  }
  /// Lets a period pass during which a zone's counter dies.
  void kill(const std::string& zone, double share) {
    const auto before = std::chrono::duration_cast<duration>(period * share);
    sim.advance(before);
    REQUIRE(sim.set_watts(zone + " stop"));
    sim.advance(period - before);
    clock.now += period;
    read();
  }
  /// host_power_watts from whichever source. Nothing if it is absent.
  std::optional<double> watts() const {
    for (const auto& e : out.series()) {
      if (e.removed || e.info.family != "host_power_watts" || e.reason != absence::none) continue;
      return to_double(e.value);
    }
    return std::nullopt;
  }
  std::string package(const char* name) { return shown(out, "rapl_power_watts", {{"package", name}}); }
  std::string psys() { return shown(out, "rapl_zone_power_watts", {{"zone", "psys"}}); }
  std::string dram(const char* name) {
    return shown(out, "rapl_zone_power_watts", {{"zone", "dram"}, {"package", name}});
  }
  std::string node(const char* source) { return shown(out, "host_power_watts", {{"source", source}}); }

  duration period;
  temp_folder sys;
  powercap_sim sim;
  fake_clock clock;
  board out;
  rapl_source rapl;
  host_source host;
};

/// A board on which a test puts the values of the other sources, and the host source, which reads them.
struct bare_desk {
  fake_clock clock;
  board out;
  host_source host{host_options{.period = 1s}, clock.source()};

  /// Lets a second pass, in which these groups are read.
  void tick(std::initializer_list<board::group_ref> groups) {
    clock.now += 1s;
    for (const auto g : groups) out.mark_read(g, clock.now);
    REQUIRE(host.read(out));
  }
  std::string node(const char* source) { return shown(out, "host_power_watts", {{"source", source}}); }
  std::string set_aside(const char* source, const char* reason) {
    return shown(out, "host_power_set_aside", {{"source", source}, {"reason", reason}});
  }
};

/// One with RAPL and a BMC.
struct desk : bare_desk {
  board::group_ref rapl = out.add_group("rapl", "", 1s, 10s);
  board::group_ref bmc = out.add_group("bmc", "dcmi.power", 5s, 15s);
  board::series_ref package = out.add_series(rapl, "rapl_power_watts", {{"package", "0"}});
  board::series_ref memory =
      out.add_series(rapl, "rapl_zone_power_watts", {{"zone", "dram"}, {"package", "0"}});
  board::series_ref dcmi = board::no_series, psys = board::no_series;
  board::series_ref supply[2] = {board::no_series, board::no_series};

  void has_dcmi() { dcmi = out.add_series(bmc, "bmc_dcmi_power_watts", {}); }
  void has_psys() { psys = out.add_series(rapl, "rapl_zone_power_watts", {{"zone", "psys"}}); }
  /// Without a sensor of the whole system they are the node's, beside one they have the scope "supply".
  void has_supplies(const char* scope = "node") {
    for (const char* name : {"PS1", "PS2"})
      supply[name[2] - '1'] = out.add_series(
          bmc, "bmc_power_watts", {{"sensor", name}, {"entity", "x"}, {"id", name}, {"scope", scope}});
  }
  board::series_ref has_system_sensor(const char* name) {
    return out.add_series(bmc, "bmc_power_watts",
                          {{"sensor", name}, {"entity", "x"}, {"id", "1"}, {"scope", "node"}});
  }
  void parts(double packages, double dram = 10) {
    out.set(package, packages);
    out.set(memory, dram);
  }
  /// What the two meters of the whole machine say. The supplies share their sum evenly.
  void meters(double by_dcmi, double by_supplies) {
    out.set(dcmi, by_dcmi);
    for (const auto s : supply) out.set(s, by_supplies / 2);
  }
  /// Lets time pass in steps of a second. The BMC is read at every fifth step.
  void pass(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      if (++ticks_ % 5 == 0) {
        tick({rapl, bmc});
      } else {
        tick({rapl});
      }
    }
  }

 private:
  int ticks_ = 4;  // so that the first step reads everything
};

}  // namespace binnacle::agent::plausibility
