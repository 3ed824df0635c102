// The agent and its helper against a BMC: OpenIPMI's simulator on loopback.
#include "tests/support/bmc/bmc_sim.hpp"
#include "tests/support/net/https_client.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <optional>
#include <signal.h>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <vector>

using namespace binnacle::support;
using namespace std::chrono_literals;

namespace {

/// A BMC, and an agent's settings for reading it.
struct room {
  room() {
    credentials(bmc_admin_password);
    // ipmi_sim lets only administrators use DCMI, and needs a workaround.
    folder.write("ipmi.yaml",
                 "privilege: admin\nworkarounds: [opensesspriv]\ncall-timeout: 500ms\ncache-folder: " +
                     (folder / "cache") + "\n");
  }
  void credentials(const std::string& password) {
    folder.write("bmc", std::string("user: ") + bmc_admin + "\npassword: " + password + "\n");
    ::chmod((folder / "bmc").c_str(), 0600);
  }
  std::vector<std::string> lan() const {
    return {"--bmc-host",    sim.address(),        "--bmc-credentials-file", folder / "bmc",
            "--ipmi-config", folder / "ipmi.yaml", "--ipmi-helper",          BINNACLE_IPMI};
  }

  temp_folder folder;
  bmc_sim sim;
};

struct agent {
  explicit agent(std::vector<std::string> more) : run(BINNACLE_AGENT, flags(std::move(more))) {
    REQUIRE(run.until("runs as node"));
    https_client::options o;
    o.port = port_in(run.said);
    client.emplace(o);
  }
  static std::vector<std::string> flags(std::vector<std::string> more) {
    for (const char* f : {"--sources", "os,bmc", "--listen", "127.0.0.1:0", "--period", "100ms",
                          "--bmc-period", "100ms", "--bmc-budget", "50"}) {
      more.emplace_back(f);
    }
    return more;
  }
  /// The value of the first series in /metrics whose line begins with this text
  /// ("bmc_temperature_celsius{sensor=\"Inlet Temp\""). Empty if there is none.
  std::string value(const std::string& begin) {
    std::istringstream text(client->get("/metrics").body);
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with(begin)) return line.substr(line.rfind(' ') + 1);
    }
    return {};
  }
  bool until(const std::string& series, const std::string& wanted, std::chrono::seconds patience = 10s) {
    const auto limit = std::chrono::steady_clock::now() + patience;
    std::string last;
    do {
      last = value(series);
      if (last == wanted) return true;
      std::this_thread::sleep_for(20ms);
    } while (std::chrono::steady_clock::now() < limit);
    MESSAGE(series << " is \"" << last << "\" instead of \"" << wanted << "\"");
    return false;
  }
  std::string event(const std::string& name) {
    return value("binnacle_agent_source_events_total{source=\"bmc\",event=\"" + name + "\"}");
  }
  /// Process ids of the agent's children.
  std::vector<int> children() const {
    const auto pid = std::to_string(run.pid());
    std::ifstream file("/proc/" + pid + "/task/" + pid + "/children");
    std::vector<int> all;
    for (int one = 0; file >> one;) all.push_back(one);
    return all;
  }

  program run;
  std::optional<https_client> client;
};

const std::string inlet = "bmc_temperature_celsius{sensor=\"Inlet Temp\"";

TEST_SUITE_BEGIN("agent/sources/bmc/program");

TEST_CASE("a BMC's values arrive under their names, and follow") {
  room r;
  agent a(r.lan());
  REQUIRE(a.until(inlet, "23.0"));
  CHECK(a.until("bmc_inlet_temperature_celsius{sensor=\"Inlet Temp\"", "23.0"));
  CHECK(a.until("bmc_cpu_temperature_celsius{sensor=\"CPU1 Temp\"", "58.0"));
  CHECK(a.until("bmc_temperature_margin_celsius{sensor=\"CPU0 Temp\",threshold=\"non_critical\"", "24.0"));
  CHECK(a.until("bmc_sensor_state{sensor=\"Inlet Temp\",kind=\"temperature\"", "0"));
  CHECK(a.until("bmc_fan_rpm{sensor=\"Fan1 Speed\"", "9000"));
  CHECK(a.until("bmc_power_watts{sensor=\"Sys Power\"", "405.0"));
  CHECK(a.until("bmc_dcmi_power_watts", "417.0"));
  CHECK(a.until("bmc_dcmi_average_power_watts", "417.0"));
  CHECK(a.until("bmc_dcmi_window_seconds", "1.000"));
  CHECK(a.until("bmc_chassis_power_on", "0"));  // a simulated board is off
  CHECK(a.value("bmc_voltage_volts").empty());  // not on the default list
  const auto metrics = a.client->get("/metrics").body;
  CHECK(metrics.find("sensor=\"Sys Power\",entity=\"system board 1\",id=\"20.0.09\",scope=\"node\"") !=
        metrics.npos);
  CHECK(metrics.find("sensor=\"PSU1 Input\",entity=\"power supply 1\",id=\"20.0.07\",scope=\"supply\"") !=
        metrics.npos);

  r.sim.set("Inlet Temp", 46);
  CHECK(a.until(inlet, "46.0"));
  CHECK(a.until("bmc_sensor_state{sensor=\"Inlet Temp\",kind=\"temperature\"", "2"));
  CHECK(a.until("bmc_temperature_margin_celsius{sensor=\"Inlet Temp\",threshold=\"critical\"", "-1.0"));

  // The sensor now says N/A, like one of a part that is switched off.
  r.sim.scanning(4, false);
  CHECK(a.until("bmc_temperature_celsius{sensor=\"DIMM Temp\"", ""));
  CHECK(a.until(inlet, "46.0"));
  r.sim.scanning(4, true);
  CHECK(a.until("bmc_temperature_celsius{sensor=\"DIMM Temp\"", "44.0"));

  CHECK(a.event("helper_starts") == "1");
  CHECK(a.event("helper_ended") == "0");
  a.run.signal(SIGTERM);
  CHECK(a.run.status() == 0);
}

TEST_CASE("a BMC that freezes takes its own values with it and nothing else, and they come back") {
  room r;
  agent a(r.lan());
  REQUIRE(a.until(inlet, "23.0"));
  r.sim.freeze();
  CHECK(a.until("binnacle_agent_source_up{source=\"bmc\"}", "0", 20s));
  CHECK(a.until(inlet, ""));
  CHECK(a.value("binnacle_agent_source_up{source=\"os\"}") == "1");
  CHECK_FALSE(a.value("os_load1").empty());
  r.sim.thaw();
  CHECK(a.until(inlet, "23.0", 30s));
}

TEST_CASE("a wrong password is tried once, until the file changes") {
  room r;
  r.credentials("wrong");
  agent a(r.lan());
  REQUIRE(a.run.until("source bmc does not work: ", 20s));
  CHECK(a.until("binnacle_agent_source_events_total{source=\"bmc\",event=\"bmc_refused\"}", "1"));
  std::this_thread::sleep_for(1s);
  CHECK(a.event("bmc_refused") == "1");
  CHECK(a.event("helper_starts") == "1");
  CHECK(a.run.said.find("secret1") == std::string::npos);
  r.credentials(bmc_admin_password);
  CHECK(a.until(inlet, "23.0", 20s));
}

TEST_CASE("a helper that runs as a sidecar is met at its socket, and met again after its restart") {
  room r;
  const std::vector<std::string> helper{"--config",      r.folder / "ipmi.yaml", "--host",
                                        r.sim.address(), "--credentials-file",   r.folder / "bmc",
                                        "--socket",      r.folder / "ipmi.sock"};
  std::optional<program> sidecar;
  sidecar.emplace(BINNACLE_IPMI, helper);
  agent a({"--ipmi-socket", r.folder / "ipmi.sock"});
  REQUIRE(a.until(inlet, "23.0"));
  CHECK(a.children().empty());
  // The sidecar serves one agent at a time. A second agent says who is served now, and a probe does not
  // report that as a fault.
  program second(BINNACLE_AGENT,
                 agent::flags({"--ipmi-socket", r.folder / "ipmi.sock", "--node-name", "second"}));
  CHECK(second.until("another agent is connected to this binnacle-ipmi, which serves one at a time", 20s));
  program probe(BINNACLE_AGENT,
                {"--sources", "bmc", "--ipmi-socket", r.folder / "ipmi.sock", "--probe", "-o", "json"});
  probe.status(30s);
  CAPTURE(probe.said);
  CHECK(probe.said.find("serves another agent") != std::string::npos);
  CHECK(probe.said.find("\"grade\": \"absent\"") != std::string::npos);
  second.signal(SIGTERM);
  CHECK(second.status() == 0);
  sidecar.reset();
  CHECK(a.until(inlet, ""));
  sidecar.emplace(BINNACLE_IPMI, helper);
  CHECK(a.until(inlet, "23.0", 20s));
}

TEST_CASE("the session with the BMC ends with the agent, and with a probe: a BMC has few") {
  room r;
  r.sim.note_commands();
  SUBCASE("the agent") {
    agent a(r.lan());
    REQUIRE(a.until(inlet, "23.0"));
    a.run.signal(SIGTERM);
    CHECK(a.run.status() == 0);
  }
  SUBCASE("a probe") {
    auto flags = r.lan();
    for (const char* f : {"--sources", "bmc", "--probe"}) flags.emplace_back(f);
    program p(BINNACLE_AGENT, flags);
    p.status(30s);
    CHECK(p.said.find("sensors, ") != std::string::npos);
  }
  const auto came = r.sim.commands();
  CHECK(std::find(came.begin(), came.end(), "0x6 0x3c") != came.end());  // Close Session
}

TEST_CASE("--probe says what is there, or what is in the way") {
  room r;
  auto flags = r.lan();
  std::string wanted;
  SUBCASE("all well") { wanted = "sensors, "; }
  SUBCASE("a wrong password") {
    r.credentials("wrong");
    wanted = "BMCs lock accounts";
  }
  SUBCASE("no helper") {
    flags.back() = r.folder / "nothing";
    wanted = "ipmi-helper";
  }
  SUBCASE("no device") {
    // The advice depends on what /sys knows of a BMC: here, nothing.
    flags = {"--bmc-device", r.folder / "ipmi0", "--ipmi-helper",
             BINNACLE_IPMI,  "--sys-root",       r.folder.path()};
    wanted = "modprobe ipmi_si ipmi_devintf";
  }
  for (const char* f : {"--sources", "bmc", "--probe", "-o", "json"}) flags.emplace_back(f);
  program p(BINNACLE_AGENT, flags);
  p.status(30s);
  CAPTURE(p.said);
  CHECK(p.said.find(wanted) != std::string::npos);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("agent/sources/bmc/slow");

TEST_CASE("a helper that hangs is killed and started again while every other source goes on") {
  room r;
  agent a(r.lan());
  REQUIRE(a.until(inlet, "23.0"));
  const auto before = a.children();
  REQUIRE(before.size() == 1);
  ::kill(before[0], SIGSTOP);
  CHECK(a.until("binnacle_agent_source_events_total{source=\"bmc\",event=\"helper_hung\"}", "1", 30s));
  CHECK(a.value("binnacle_agent_source_up{source=\"os\"}") == "1");
  CHECK(a.until(inlet, "23.0", 30s));
  const auto after = a.children();
  REQUIRE(after.size() == 1);  // there is one new child, and no zombie
  CHECK(after[0] != before[0]);
  CHECK(a.until("binnacle_agent_source_events_total{source=\"bmc\",event=\"helper_starts\"}", "2"));
  a.run.until("hangs", 1s);
  CHECK(a.run.said.find("did not answer in time") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace
