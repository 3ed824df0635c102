// The program as a whole: what a user gets from the command line, and how the program ends.
#include "tests/support/program.hpp"

#include "agent/kernel/perf_event.hpp"
#include "tests/agent/countable.hpp"
#include "tests/support/machine/powercap_sim.hpp"
#include "tests/support/net/https_client.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/no_file_capabilities.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace binnacle::agent;
using namespace binnacle::support;
using namespace std::chrono_literals;

namespace {

struct agent_program : program {
  explicit agent_program(std::vector<std::string> flags, bool close_stdin = false)
      : program(BINNACLE_AGENT, std::move(flags), close_stdin) {}
};

}  // namespace

TEST_SUITE_BEGIN("agent/program");

TEST_CASE("--probe says what works, and its status says whether anything does") {
  temp_folder nothing;
  SUBCASE("this machine has at least its /proc") {
    agent_program p({"--probe", "--node-name", "node7"});
    CHECK(p.status() == 0);
    CHECK(p.said.find("on node7") != std::string::npos);
    CHECK(p.said.find("sources work.") != std::string::npos);
  }
  SUBCASE("nothing at all") {
    agent_program p({"--probe", "--sys-root", nothing.path(), "--proc-root", nothing.path(), "-o", "json"});
    CHECK(p.status() == 1);
    CHECK(p.said.find("\"works\": false") != std::string::npos);
    CHECK(p.said.find("\"works\": true") == std::string::npos);
  }
}

TEST_CASE("--report writes one to a file or to the standard output, and says where it cannot") {
  temp_folder folder;
  folder.write("sys/class/hwmon/hwmon0/name", "coretemp\n");
  std::filesystem::create_directories(folder / "proc");
  const std::vector<std::string> roots{"--sys-root",    folder / "sys", "--proc-root",
                                       folder / "proc", "--node-name",  "node7"};
  const auto report_to = [&](const std::string& where) {
    auto flags = roots;
    flags.insert(flags.end(), {"--report", where});
    return flags;
  };
  SUBCASE("the standard output") {
    agent_program p(report_to("-"));
    CHECK(p.status() == 0);
    CHECK(p.said.find("\nreport: 1\n") != p.said.npos);
    CHECK(p.said.find("name: coretemp") != p.said.npos);
    CHECK(p.said.find("node7") == p.said.npos);
  }
  SUBCASE("a file") {
    agent_program p(report_to(folder / "machine.yaml"));
    CHECK(p.status() == 0);
    CHECK(p.said.empty());
    CHECK(std::filesystem::file_size(folder / "machine.yaml") > 100);
  }
  SUBCASE("a folder that is not there") {
    agent_program p(report_to(folder / "none/machine.yaml"));
    CHECK(p.status() == 2);
    CHECK(p.said.find("binnacle-agent: report: ") == 0);
    CHECK(p.said.find("name another file") != p.said.npos);
  }
}

TEST_CASE("a wrong setting is one sentence and status 2") {
  agent_program p({"--aggregator", "a:9110"});
  CHECK(p.status() == 2);
  CHECK(p.said.find("binnacle-agent: --cert is missing") == 0);
}

TEST_CASE("it serves what it reads, also with its standard input closed, and SIGTERM ends it in order") {
  temp_folder root;
  powercap_sim sim(root / "sys", machines::xeon_two_sockets(), 100, 0);
  agent_program p({"--sys-root", root / "sys", "--listen", "127.0.0.1:0", "--period", "100ms"}, true);
  REQUIRE(p.until("source os works"));
  https_client::options o;
  o.port = port_in(p.said);
  https_client client(o);
  for (int i = 0; i < 50; ++i) {
    sim.advance(20ms);
    std::this_thread::sleep_for(20ms);
  }
  const auto metrics = client.get("/metrics");
  CHECK(metrics.status == 200);
  CHECK(metrics.body.find("rapl_power_watts{package=\"1\"}") != std::string::npos);
  CHECK(metrics.body.find("# HELP os_load1 ") != std::string::npos);
  CHECK(client.get("/readyz").status == 200);
  CHECK(client.get("/livez").status == 200);
  p.signal(SIGTERM);
  CHECK(p.status() == 0);
  CHECK(p.said.find("stopped") != std::string::npos);
}

TEST_CASE("a renewed certificate of the scrape endpoint is taken over") {
  const temp_folder folder;
  authority first(folder, "first"), second(folder, "second");
  const auto pem = first.issue_server();
  agent_program p({"--sources", "os", "--listen", "127.0.0.1:0", "--listen-cert", pem.certificate,
                   "--listen-key", pem.key});
  REQUIRE(p.until("metrics are on https", 30s));
  REQUIRE(p.until("source os works", 30s));
  https_client::options o;
  o.port = port_in(p.said);
  o.pem.authority = second.certificate();
  CHECK_THROWS(https_client(o).get("/livez"));
  second.issue_server();  // writes new certificates to the same files
  REQUIRE(p.until("certificate of the scrape endpoint: taken over", 60s));
  CHECK(https_client(o).get("/livez").status == 200);
}

TEST_CASE("it keeps no capability that its sources do not need, and no program it starts can gain one") {
  temp_folder root;
  write_powercap_tree(root / "sys", machines::xeon_two_sockets());
  restrict_energy(root / "sys");
  const std::vector<std::string> flags{"--sources",  "rapl,os",  "--sys-root",
                                       root / "sys", "--listen", "127.0.0.1:0"};
  SUBCASE("nothing is needed for files of one's own user") {
    agent_program p(flags);
    REQUIRE(p.until("source rapl works"));
    for (const auto* set : {"CapEff", "CapPrm", "CapInh", "CapAmb"}) {
      CAPTURE(set);
      CHECK(p.of_status(set) == "0000000000000000");
    }
    CHECK(p.of_status("NoNewPrivs") == "1");
    if (has_one_of(one_capability(CAP_SETPCAP))) CHECK(p.of_status("CapBnd") == "0000000000000000");
    CHECK(p.said.find("capabilities: none") != std::string::npos);
  }
  SUBCASE("CAP_PERFMON is all that counting on every CPU needs") {
    // No return: doctest would never come to the subcase after this one.
    if (!has_one_of(one_capability(CAP_PERFMON))) {
      MESSAGE("skipped: this user has no CAP_PERFMON");
    } else if (!perfmon_suffices("/proc")) {
      MESSAGE("skipped: at this kernel.perf_event_paranoid Debian's and Ubuntu's kernels take CAP_SYS_ADMIN");
    } else if (!binnacle::agent::test::every_cpu_can_be_counted()) {
      MESSAGE("skipped: the events of the CPUs that /sys lists cannot be counted here");
    } else {
      agent_program p({"--sources", "pmu", "--listen", "127.0.0.1:0"});
      REQUIRE(p.until("source pmu works"));
      CHECK(p.of_status("CapEff") == "0000004000000000");
      CHECK(p.said.find("privileges: needs CAP_PERFMON for pmu") != std::string::npos);
    }
  }
  SUBCASE("CAP_DAC_READ_SEARCH stays where the counters are another's") {
    if (!has_one_of(one_capability(CAP_CHOWN)) || !has_one_of(one_capability(CAP_DAC_READ_SEARCH))) {
      MESSAGE("skipped: this user has no CAP_CHOWN, which gives files away, or no CAP_DAC_READ_SEARCH");
      return;
    }
    for (const auto zone : {0u, 1u, 2u}) {
      REQUIRE(::chown((root / ("sys/" + zone_folder({zone}) + "/energy_uj")).c_str(), 65534, 65534) == 0);
    }
    agent_program p(flags);
    REQUIRE(p.until("source rapl works"));
    CHECK(p.of_status("CapEff") == "0000000000000004");
    CHECK(p.of_status("CapPrm") == "0000000000000004");
    CHECK(p.said.find("privileges: needs CAP_DAC_READ_SEARCH for ") != std::string::npos);
  }
}

TEST_CASE("without the right to read energy the probe says what is missing") {
  if (!has_one_of(one_capability(CAP_SETUID))) {
    MESSAGE("skipped: this user has no CAP_SETUID, which starts programs as another user");
    return;
  }
  temp_folder root;
  write_powercap_tree(root / "sys", machines::epyc());
  restrict_energy(root / "sys");
  SUBCASE("of the counters") {
    std::filesystem::permissions(root.path(), static_cast<std::filesystem::perms>(0755));
  }
  SUBCASE("of the folder above them") {}
  // Another user may not be able to reach the build folder, for example below /root.
  temp_folder open_to_all;
  const std::filesystem::perms all_may_look{0755};
  std::filesystem::permissions(open_to_all.path(), all_may_look);
  const auto copy = open_to_all / "binnacle-agent";
  std::filesystem::copy_file(BINNACLE_AGENT, copy);
  std::filesystem::permissions(copy, all_may_look);
  program p(copy, {"--probe", "--sys-root", root / "sys", "--sources", "rapl"}, false, 65534);
  CHECK(p.status() == 1);
  CHECK(p.said.find("CAP_DAC_READ_SEARCH") != std::string::npos);
}

TEST_CASE("a port in use is named at the start") {
  agent_program first({"--listen", "127.0.0.1:0", "--sources", "os"});
  REQUIRE(first.until("runs as node"));
  agent_program second({"--sources", "os", "--listen", "127.0.0.1:" + std::to_string(port_in(first.said))});
  CHECK(second.status() == 2);
  CHECK(second.said.find("is in use") != std::string::npos);
}

TEST_SUITE_END();
