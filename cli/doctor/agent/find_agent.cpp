#include "cli/doctor/agent/find_agent.hpp"

#include "cli/blocking.hpp"
#include "common/async/run_program.hpp"
#include "common/text/load_yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <pwd.h>
#include <set>
#include <sstream>
#include <unistd.h>

namespace binnacle::cli::doctor {
namespace {

namespace fs = std::filesystem;
constexpr const char* name = "binnacle-agent";
constexpr const char* usual_config = "/etc/binnacle/agent.yaml";

/// The words of a command line; /proc ends each with a NUL.
std::vector<std::string> words_of(const std::string& file) {
  std::vector<std::string> out;
  const auto text = last_bytes(file, 1u << 20);
  if (text.has_error()) return out;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\0'), rest.size());
    out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

std::string beside_us() {
  std::error_code ec;
  const auto candidate = fs::read_symlink("/proc/self/exe", ec).parent_path() / name;
  return !ec && fs::exists(candidate, ec) ? candidate.string() : name;
}

/// The users whose processes may be this machine's agent. The named account is the systemd unit's.
std::set<uid_t> known_users() {
  std::set<uid_t> out{0, ::geteuid()};
  if (const passwd* unit = ::getpwnam(name)) out.insert(unit->pw_uid);
  return out;
}

/// Whether all four user ids of the process are among `users`. They are read from its status file: the owner
/// of /proc/PID itself becomes root as soon as a process asks for that (PR_SET_DUMPABLE), and a set-user-ID
/// program keeps its caller as the real user.
bool belongs_to(const std::set<uid_t>& users, const std::string& status_file) {
  std::ifstream in(status_file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("Uid:")) continue;
    std::istringstream ids(line.substr(4));
    std::size_t count = 0;
    for (uid_t id = 0; ids >> id; ++count) {
      if (!users.contains(id)) return false;
    }
    return count == 4;
  }
  return false;
}

/// Judged by the file that the kernel runs. argv[0] does not count: the caller of exec() chooses it.
bool is_the_agent(const fs::path& process) {
  std::error_code ec;
  std::string exe = fs::read_symlink(process / "exe", ec).filename();
  constexpr std::string_view replaced = " (deleted)";  // by an upgrade, since it was started
  if (exe.ends_with(replaced)) exe.resize(exe.size() - replaced.size());
  return !ec && exe == name;
}

std::string mount_namespace(const fs::path& process) {
  std::error_code ec;
  return fs::read_symlink(process / "ns/mnt", ec);
}

/// Whether the process's arguments may be passed to a program that runs as us. They name files to read and a
/// helper to start. So only a process of root or of our own user is believed, and only in our mount
/// namespace: elsewhere paths mean other files, and root may be a container's root.
bool is_believed(const fs::path& process, const std::string& root) {
  const std::string theirs = mount_namespace(process);
  return !theirs.empty() && theirs == mount_namespace(root + "/proc/self") &&
         belongs_to({0, ::geteuid()}, process / "status");
}

std::vector<agent_here> running(const std::string& root) {
  std::vector<agent_here> out;
  const auto users = known_users();
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(root + "/proc", ec)) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != pid.npos) continue;
    auto words = words_of(entry.path() / "cmdline");
    if (words.empty() || !is_the_agent(entry.path()) || !belongs_to(users, entry.path() / "status")) continue;
    if (std::ranges::find(words, "--probe") != words.end()) continue;
    agent_here one;
    one.pid = std::stoi(pid);
    one.program = beside_us();
    if (is_believed(entry.path(), root)) {
      one.arguments.assign(words.begin() + 1, words.end());
    } else if (exists(root + usual_config)) {
      one.arguments = {"--config",
                       usual_config};  // as the unit's agent runs, in a mount namespace of its own
    } else {
      one.program.clear();
    }
    out.push_back(std::move(one));
  }
  return out;
}

std::string first_sentence(const std::string& said) { return said.substr(0, said.find('\n')); }

}  // namespace

result<agent_here> agent_to_ask(const std::string& root, const std::string& config_file) {
  auto found = running(root);
  if (!config_file.empty()) {
    // The running agent that uses this file, if there is one.
    for (agent_here& one : found) {
      if (std::ranges::find(one.arguments, config_file) != one.arguments.end() ||
          std::ranges::find(one.arguments, "--config=" + config_file) != one.arguments.end())
        return std::move(one);
    }
    agent_here named;
    named.program = beside_us();
    named.arguments = {"--config", config_file};
    return named;
  }
  if (found.size() > 1) {
    return error{
        errc::not_found,
        fmt::format("{} agents run here: name the settings of one with --agent-config", found.size())};
  }
  if (found.size() == 1 && found.front().program.empty()) {
    return error{
        errc::permission,
        fmt::format("the agent here (pid {}) is a container's or another user's, so its settings are "
                    "not taken over: run the doctor where it runs, or name them with --agent-config",
                    found.front().pid)};
  }
  if (found.size() == 1) return std::move(found.front());
  if (!exists(root + usual_config)) return error{errc::not_found, "no binnacle-agent is set up here"};
  agent_here usual;
  usual.program = beside_us();
  usual.arguments = {"--config", usual_config};
  return usual;
}

result<agent_settings> parse_agent_settings(const std::string& yaml) {
  try {
    const YAML::Node top = load_yaml(yaml);
    if (!top.IsMap())
      return error{
          errc::invalid_input,
          "binnacle-agent --print-config did not print a settings file: does the agent have the release of "
          "this command?"};
    const auto text = [&](const char* key) {
      return top[key] ? top[key].as<std::string>("") : std::string();
    };
    agent_settings out;
    out.node_name = text("node-name");
    if (top["aggregator"])
      out.aggregators = top["aggregator"].as<std::vector<std::string>>(std::vector<std::string>());
    out.server_name = text("server-name");
    out.pem = {text("cert"), text("key"), text("ca")};
    out.token_file = text("token-file");
    out.listen = text("listen");
    out.listen_cert = text("listen-cert");
    out.listen_ca = text("listen-ca");
    if (const auto sys = text("sys-root"); !sys.empty()) out.sys_root = sys;
    return out;
  } catch (const YAML::Exception& e) {
    return error{errc::invalid_input, fmt::format("the agent's settings cannot be read: {}", e.msg)};
  }
}

result<agent_here> find_agent(const std::string& root, const std::string& config_file,
                              std::chrono::milliseconds patience) {
  auto here = agent_to_ask(root, config_file);
  if (here.has_error()) return here.error();
  async::program print{here->program, here->arguments};
  print.arguments.emplace_back("--print-config");
  const auto ran = blocking(async::run_program(std::move(print), async::within(patience)));
  if (ran.has_error()) {
    return error{ran.error().code,
                 fmt::format("{} cannot be run here: {}", here->program, ran.error().message)};
  }
  if (ran->status != 0)
    return error{errc::invalid_input,
                 fmt::format("the agent refuses its settings: {}", first_sentence(ran->errors))};
  auto settings = parse_agent_settings(ran->output);
  if (settings.has_error()) return settings.error();
  here->settings = *std::move(settings);
  return here;
}

}  // namespace binnacle::cli::doctor
