// The program as a whole: command line, socket, privileges.
#include "tests/agent/ipmi/helper_process.hpp"
#include "tests/agent/ipmi/lan_fixture.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/un.h>

using namespace binnacle;
using namespace binnacle::ipmi;
using namespace binnacle::support;
using namespace std::chrono_literals;

namespace {

// What the program prints to stdout. Here it prints text for people, not protocol messages.
std::string output_of(const std::string& arguments, const std::vector<std::string>& environment = {}) {
  std::string command = "env ";
  for (const auto& v : environment) command += v + " ";
  std::FILE* out = ::popen((command + BINNACLE_IPMI " " + arguments + " 2>&1").c_str(), "r");
  REQUIRE(out != nullptr);
  std::string text;
  std::array<char, 4096> piece;
  for (std::size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), out)) > 0;)
    text.append(piece.data(), n);
  return text + "exit " + std::to_string(WEXITSTATUS(::pclose(out)));
}

class socket_agent : public helper_talk {
 public:
  explicit socket_agent(const std::string& path) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    path.copy(at.sun_path, sizeof at.sun_path - 1);
    const auto limit = boot_clock::now() + 5s;
    do {
      in_ = out_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (::connect(in_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0) return;
      ::close(in_);
      std::this_thread::sleep_for(10ms);
    } while (boot_clock::now() < limit);
    FAIL("the helper does not listen");
  }
  ~socket_agent() { ::close(in_); }
};

std::string line_of(const std::string& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(key, 0) == 0) return line;
  }
  return {};
}

}  // namespace

TEST_SUITE_BEGIN("agent/ipmi/program");

TEST_CASE("the command line explains itself, names the licence, and refuses in one sentence") {
  const auto help = output_of("--help");
  CHECK(help.find("GPL-3.0-or-later") != std::string::npos);
  CHECK(help.find("--credentials-file") != std::string::npos);
  CHECK(help.find("exit 0") != std::string::npos);
  CHECK(output_of("--print-config").find("\ncache-folder: ") != std::string::npos);
  CHECK(output_of("--host 10.0.0.7") ==
        "binnacle-ipmi: host is set but no credentials-file: write user and password into a file of mode "
        "0600\nexit 2");
  CHECK(
      output_of("--roles inlet").find("binnacle-ipmi: roles: \"inlet\" gives no role: write PATTERN=inlet") ==
      0);
  CHECK(output_of("--workarounds spells").find("IPMI 2.0 has no \"spells\": use authcap") !=
        std::string::npos);
  CHECK(output_of("--socket /nonexistent/x.sock").find("its folder must be there and writable") !=
        std::string::npos);
}

TEST_CASE("the file that --print-config prints is one that --config takes") {
  const temp_folder folder;
  const auto file = folder / "ipmi.yaml";
  CHECK(output_of("--print-config > " + file) == "exit 0");
  CHECK(output_of("--config " + file + " --help").find("exit 0") != std::string::npos);
  CHECK(output_of("--config " + file + " --socket /nonexistent/x.sock").find("its folder must be there") !=
        std::string::npos);
}

TEST_CASE("--list shows a person what there is") {
  bmc_sim bmc;
  const auto text = output_of("--list --roles 'Exhaust*=inlet' --cache-folder " + bmc.folder() + "/cache",
                              bmc.shim_environment());
  CAPTURE(text);
  CHECK(text.find("/dev/ipmi0: ") == 0);
  CHECK(text.find("firmware 9.08, IPMI 2.0, DCMI\n") != std::string::npos);
  CHECK(text.find("upper 40, upper critical 45\n") != std::string::npos);
  CHECK(text.find("12.096 volts") != std::string::npos);
  CHECK(text.find("Presence detected") != std::string::npos);
  const auto exhaust = text.find("Exhaust Temp");
  CHECK(text.substr(exhaust, text.find('\n', exhaust) - exhaust).find("inlet") != std::string::npos);
  CHECK(text.find("14 sensors; 12 are read by default") != std::string::npos);
  CHECK(text.find("exit 0") != std::string::npos);

  const auto json =
      output_of("--list -o json --cache-folder " + bmc.folder() + "/cache", bmc.shim_environment());
  CHECK(json.find("{\"type\":\"bmc\"") == 0);
  CHECK(json.find("\"key\":\"dcmi.power\",\"value\":417,") != std::string::npos);
  CHECK(output_of("--list --device /nonexistent/ipmi0").find("there is no IPMI device /nonexistent/ipmi0") !=
        std::string::npos);
}

TEST_CASE("as a sidecar it serves one agent after the other, with everything told anew") {
  bmc_sim bmc;
  const auto path = bmc.folder() + "/ipmi.sock";
  helper_process helper(
      {"--socket", path, "--socket-mode", "0660", "--cache-folder", bmc.folder() + "/cache"},
      bmc.shim_environment());
  {
    socket_agent first(path);
    first.say(every(100));
    REQUIRE(first.next_reading("20.0.01"));
    struct ::stat about {};
    REQUIRE(::stat(path.c_str(), &about) == 0);
    CHECK((about.st_mode & 0777u) == 0660);
    socket_agent second(path);
    REQUIRE(second.until([](const auto& m) { return std::holds_alternative<status>(m); }));
    CHECK(second.last<status>()->message.find("serves one at a time") != std::string::npos);
    second.listen(patience);  // listen until it ends
    CHECK(second.ended);
    CHECK(first.next_reading("20.0.01"));
  }
  socket_agent third(path);
  REQUIRE(third.until_status(true));
  REQUIRE(third.until([](const auto& m) { return std::holds_alternative<inventory_end>(m); }));
  CHECK(third.sensor("20.0.01")->name == "Inlet Temp");
  third.listen(400ms);
  CHECK(third.count<reading>() == 0);  // the wishes of the agent before are forgotten
  third.say(wanted_sensors{});
  CHECK(third.next_reading("20.0.01"));
  CHECK(helper.log().find("the agent has gone") != std::string::npos);
}

TEST_CASE("SIGTERM ends it in order: the BMC gets its session back, and the socket is gone") {
  lan_fixture f;
  f.bmc.note_commands();
  const auto path = f.bmc.folder() + "/ipmi.sock";
  auto flags = f.flags();
  flags.insert(flags.end(), {"--socket", path});
  helper_process helper(flags);
  socket_agent agent(path);
  agent.say(every(100));
  REQUIRE(agent.next_reading("20.0.01"));
  ::kill(helper.pid, SIGTERM);
  CHECK(helper.status() == 0);
  const auto arrived = f.bmc.commands();
  CHECK(std::count(arrived.begin(), arrived.end(), "0x6 0x3c") == 1);  // Close Session
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("SIGTERM ends one that nobody has come to yet") {
  const temp_folder folder;
  const auto path = folder / "ipmi.sock";
  helper_process helper({"--socket", path, "--device", folder / "none", "--cache-folder", folder / "cache"});
  const auto limit = boot_clock::now() + 20s;
  while (!std::filesystem::exists(path) && boot_clock::now() < limit) std::this_thread::sleep_for(10ms);
  ::kill(helper.pid, SIGTERM);
  CHECK(helper.status() == 0);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("it keeps no capability, gains none, and holds nothing that its parent had open") {
  temp_folder folder;
  std::array<int, 2> inherited{};
  REQUIRE(::pipe(inherited.data()) == 0);  // made without close-on-exec
  helper_process helper({"--device", folder / "none", "--cache-folder", folder / "cache"});
  ::close(inherited[1]);
  REQUIRE(helper.until_status(false));
  REQUIRE(helper.until([](const auto& m) {
    const auto* s = std::get_if<status>(&m);
    return s != nullptr && s->message.find("there is no IPMI device") == 0;
  }));
  const auto file = "/proc/" + std::to_string(helper.pid) + "/status";
  CHECK(line_of(file, "CapEff:") == "CapEff:\t0000000000000000");
  CHECK(line_of(file, "CapPrm:") == "CapPrm:\t0000000000000000");
  CHECK(line_of(file, "NoNewPrivs:") == "NoNewPrivs:\t1");
  pollfd end{inherited[0], POLLIN, 0};
  REQUIRE(::poll(&end, 1, 1'000) == 1);
  CHECK((end.revents & POLLHUP) != 0);  // no process has the writing end any more
  ::close(inherited[0]);
}

TEST_CASE("nonsense from the agent ends a child") {
  temp_folder folder;
  helper_process helper({"--device", folder / "none", "--cache-folder", folder / "cache"});
  REQUIRE(helper.until_status(false));
  helper.say(unknown{"weather"});  // of a later version: no nonsense
  helper.say(ping{1});
  REQUIRE(helper.until([](const auto& m) { return std::holds_alternative<pong>(m); }));
  helper.say(interest{{{"No Key", 1}}});
  CHECK(helper.status() == 0);
  CHECK(helper.log().find("names something that is not a key") != std::string::npos);
}

TEST_SUITE_END();
