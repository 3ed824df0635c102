#include "cli/doctor/agent/find_agent.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

namespace find_agent_test {

namespace {

using namespace binnacle;
using namespace binnacle::cli::doctor;

const std::string our_mounts = "mnt:[4026531840]";

/// The /proc of a machine, as files below a folder.
struct processes : support::temp_folder {
  processes() {
    std::filesystem::create_directories(*this / "proc/self/ns");
    std::filesystem::create_symlink(our_mounts, *this / "proc/self/ns/mnt");
  }
  void running(int pid, const std::vector<std::string>& words, const std::string& exe,
               const std::string& uids, const std::string& mounts = our_mounts) {
    const std::string folder = "proc/" + std::to_string(pid) + '/';
    std::string cmdline;
    for (const std::string& word : words) cmdline.append(word).append(1, '\0');
    write(folder + "cmdline", cmdline);
    write(folder + "status", "Name:\tsomething\nUid:\t" + uids + "\nGid:\t0\t0\t0\t0\n");
    std::filesystem::create_symlink(exe, *this / (folder + "exe"));
    std::filesystem::create_directories(*this / (folder + "ns"));
    std::filesystem::create_symlink(mounts, *this / (folder + "ns/mnt"));
  }
  result<agent_here> found(const std::string& config_file = "") const {
    return agent_to_ask(path(), config_file);
  }
};

const std::string root_user = "0\t0\t0\t0";
constexpr const char* agent_exe = "/usr/bin/binnacle-agent";

TEST_SUITE("cli/doctor/agent/find_agent") {
  TEST_CASE_FIXTURE(processes, "a running agent is asked with its arguments, by our own program") {
    running(7, {"/opt/odd/binnacle-agent", "--config", "/etc/a.yaml"}, agent_exe, root_user);
    const auto here = found();
    REQUIRE(here.has_value());
    CHECK(here->pid == 7);
    CHECK(here->program != "/opt/odd/binnacle-agent");
    CHECK(here->program.ends_with("binnacle-agent"));
    CHECK(here->arguments == std::vector<std::string>{"--config", "/etc/a.yaml"});
  }

  TEST_CASE_FIXTURE(processes, "a process that only calls itself binnacle-agent is no agent") {
    running(7, {"/tmp/evil/binnacle-agent", "--config", "/tmp/evil/a.yaml"}, "/bin/sleep", root_user);
    CHECK(found().has_error());
    write("etc/binnacle/agent.yaml", "");
    const auto here = found();
    REQUIRE(here.has_value());
    CHECK(here->pid == 0);
    CHECK(here->arguments == std::vector<std::string>{"--config", "/etc/binnacle/agent.yaml"});
  }

  TEST_CASE_FIXTURE(processes, "a process whose files can be opened but not read is passed over") {
    // So is the file of a process that ends at that moment. A folder is such a file at any time.
    std::filesystem::create_directories(*this / "proc/6/cmdline");
    running(7, {agent_exe}, agent_exe, root_user);
    const auto here = found();
    REQUIRE(here.has_value());
    CHECK(here->pid == 7);
  }

  TEST_CASE_FIXTURE(processes, "another user's process is not listened to, whatever it runs") {
    const std::string theirs = "4242\t4242\t4242\t4242";
    running(7, {"/tmp/evil/binnacle-agent", "--config", "/tmp/evil/a.yaml"}, "/tmp/evil/binnacle-agent",
            theirs);
    CHECK(found().has_error());
    const auto named = found("/tmp/evil/a.yaml");  // our caller chose this file, but not this process
    REQUIRE(named.has_value());
    CHECK(named->pid == 0);
    SUBCASE("nor one that such a user started as root") {
      running(8, {"binnacle-agent", "--config", "/tmp/evil/a.yaml"}, agent_exe, "4242\t0\t0\t0");
      CHECK(found().has_error());
    }
  }

  TEST_CASE_FIXTURE(processes, "an agent in another mount namespace tells that it runs, not how") {
    running(7, {"binnacle-agent", "--ipmi-helper", "/tmp/evil/helper"}, agent_exe, root_user,
            "mnt:[4026532999]");
    CHECK(found().error().code == errc::permission);
    CHECK(found("/etc/a.yaml")->arguments == std::vector<std::string>{"--config", "/etc/a.yaml"});
    write("etc/binnacle/agent.yaml", "");  // as the unit's agent, which systemd gives its own mounts
    const auto here = found();
    REQUIRE(here.has_value());
    CHECK(here->pid == 7);
    CHECK(here->arguments == std::vector<std::string>{"--config", "/etc/binnacle/agent.yaml"});
  }

  TEST_CASE_FIXTURE(processes, "an agent that an upgrade replaced still counts, as does one of ours") {
    const std::string us = std::to_string(::geteuid());
    running(7, {"binnacle-agent", "--config", "/etc/a.yaml"}, std::string(agent_exe) + " (deleted)",
            us + '\t' + us + '\t' + us + '\t' + us);
    CHECK(found()->pid == 7);
    running(8, {"binnacle-agent", "--probe"}, agent_exe, root_user);  // a look, not the agent
    CHECK(found()->pid == 7);
    running(9, {"binnacle-agent"}, agent_exe, root_user);
    CHECK(found().error().message == "2 agents run here: name the settings of one with --agent-config");
  }

  TEST_CASE("the agent's own print of its settings is understood") {
    const auto s = parse_agent_settings(
        "node-name: \"n1\"\naggregator: [\"a:9110\", \"b\"]\nserver-name: \"x\"\ncert: \"c\"\nkey: "
        "\"k\"\nca: \"a\"\n"
        "listen: \":9103\"\nsys-root: \"/host/sys\"\n");
    REQUIRE(s.has_value());
    CHECK(s->node_name == "n1");
    CHECK(s->aggregators == std::vector<std::string>{"a:9110", "b"});
    CHECK(s->pem.key == "k");
    CHECK(s->sys_root == "/host/sys");
    CHECK(parse_agent_settings("").has_error());
    CHECK(parse_agent_settings("aggregator: [\n").has_error());
  }
}

}  // namespace

}  // namespace find_agent_test
