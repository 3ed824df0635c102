#include "cli/doctor/checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace binnacle::cli::doctor {
namespace {

struct name_of {
  int number;
  std::string_view name;
};
// Capabilities that sources may need (agent/PRIVILEGES.md), then those that no source needs. Numbers:
// <linux/capability.h>.
constexpr name_of useful[] = {{2, "CAP_DAC_READ_SEARCH"}, {13, "CAP_NET_RAW"}, {38, "CAP_PERFMON"}};
constexpr name_of excessive[] = {{1, "CAP_DAC_OVERRIDE"},
                                 {16, "CAP_SYS_MODULE"},
                                 {17, "CAP_SYS_RAWIO"},
                                 {19, "CAP_SYS_PTRACE"},
                                 {21, "CAP_SYS_ADMIN"}};

struct process_rights {
  std::uint64_t effective = 0, bounding = 0;
  std::string user = "?";
};

std::optional<process_rights> rights_of(const std::string& status_file) {
  std::ifstream in(status_file);
  if (!in) return std::nullopt;
  process_rights out;
  for (std::string line; std::getline(in, line);) {
    const auto value = [&] { return line.substr(line.find_first_not_of(" \t", line.find(':') + 1)); };
    if (line.starts_with("CapEff:")) out.effective = std::strtoull(value().c_str(), nullptr, 16);
    if (line.starts_with("CapBnd:")) out.bounding = std::strtoull(value().c_str(), nullptr, 16);
    if (line.starts_with("Uid:")) {  // real, effective, saved, file system
      const auto text = value();
      const auto second = text.find_first_of(" \t") + 1;
      out.user = text.substr(second, text.find_first_of(" \t", second) - second);
    }
  }
  return out;
}

template <std::size_t N>
std::vector<std::string_view> among(std::uint64_t set, const name_of (&names)[N]) {
  std::vector<std::string_view> out;
  for (const auto& n : names) {
    if ((set >> n.number & 1) != 0) out.push_back(n.name);
  }
  return out;
}

}  // namespace

findings check_capabilities(const place& p) {
  const bool running = p.agent.has_value() && p.agent->pid > 0;
  const auto rights =
      rights_of(p.path(running ? fmt::format("/proc/{}/status", p.agent->pid) : "/proc/self/status"));
  if (!rights) return {unchecked("a process's capabilities cannot be read from /proc")};
  const auto has = among(rights->effective, useful);
  const std::string who = running ? fmt::format("binnacle-agent (pid {})", p.agent->pid) : "this command";
  findings out;
  out.push_back(ok(fmt::format("{} runs with user id {} and {}", who, rights->user,
                               has.empty() ? "none of the capabilities that sources can use"
                                           : fmt::format("{}", fmt::join(has, ", ")))));
  if (const auto too_much = among(rights->effective, excessive); running && !too_much.empty()) {
    out.push_back(
        warning(fmt::format("the agent holds {}, which it never needs", fmt::join(too_much, ", ")),
                "start it as the unit or the chart does: it gives up by itself what it may give up"));
  }
  const auto perfmon = std::uint64_t{1} << 38;
  if (!running && (rights->bounding & perfmon) == 0) {
    out.push_back(warning("CAP_PERFMON cannot be had here: it is outside this process's bounding set",
                          "where CPU events are to be counted, add PERFMON to the container's capabilities"));
  }
  return out;
}

}  // namespace binnacle::cli::doctor
