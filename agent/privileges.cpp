#include "agent/privileges.hpp"

#include "agent/sources/path/echo.hpp"
#include "agent/sources/rapl/power_pmu.hpp"
#include "agent/sources/rapl/rapl_zones.hpp"
#include "common/descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <linux/capability.h>
#include <sys/stat.h>

namespace binnacle::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files_tried = 256;
constexpr std::uint16_t first_free_port = 1024;

// What the settings name and the agent opens again and again while it runs.
std::vector<std::string> files_named(const settings& s) {
  std::vector<std::string> files;
  // bmc-credentials-file is not among them: the helper reads it, without any capability.
  for (const auto* one :
       {&s.cert, &s.key, &s.ca, &s.token_file, &s.listen_cert, &s.listen_key, &s.listen_ca}) {
    if (!one->empty()) files.push_back(*one);
  }
  for (const auto& t : s.scrape_targets) {
    for (const auto* one : {&t.pem.authority, &t.pem.certificate, &t.pem.key, &t.token_file}) {
      if (!one->empty()) files.push_back(*one);
    }
  }
  if (s.reads("textfile") && !s.textfile_directory.empty()) {
    files.push_back(s.textfile_directory);
    std::error_code bad;
    for (fs::directory_iterator it(s.textfile_directory, bad), end;
         !bad && it != end && files.size() < most_files_tried; it.increment(bad)) {
      // What a user's link leads to is no reason: it could be any file of the node.
      struct ::stat entry {};
      if (it->path().extension() != ".prom" || ::lstat(it->path().c_str(), &entry) != 0) continue;
      if (S_ISREG(entry.st_mode) || entry.st_uid == 0) files.push_back(it->path());
    }
  }
  return files;
}

// One stands for all: the driver makes them alike. Empty when there is none.
std::string energy_file(const settings& s) {
  const auto tree = find_rapl_zones(s.sys_root);
  return tree ? tree->zones.front().folder + "/energy_uj" : std::string();
}

bool refused(const std::string& path) { return !open_readonly(path) && errno == EACCES; }

}  // namespace

privileges needed_privileges(const settings& s) {
  privileges found;
  const auto need = [&](int capability, const std::string& what) {
    found.needed |= one_capability(capability);
    found.reasons.push_back(fmt::format("{} for {}", names_of(one_capability(capability)), what));
  };

  constexpr auto file_capabilities = one_capability(CAP_DAC_OVERRIDE) | one_capability(CAP_DAC_READ_SEARCH);
  auto files = files_named(s);
  const auto before = effective_capabilities();
  const bool without = (before & file_capabilities) != 0 && set_effective(before & ~file_capabilities);
  if (s.reads("rapl")) {
    const auto energy = energy_file(s);
    const bool closed = energy.empty() || refused(energy);
    if (closed && (before & one_capability(CAP_PERFMON)) != 0 && !find_power_events(s.sys_root).empty()) {
      // It opens no other file of the node, so it goes before CAP_DAC_READ_SEARCH.
      need(CAP_PERFMON, "rapl (the perf PMU power)");
    } else if (!energy.empty()) {
      files.push_back(energy);
    }
  }
  if (without) {
    for (const auto& file : files) {
      if (!refused(file)) continue;
      need(CAP_DAC_READ_SEARCH, file);
      break;
    }
    set_effective(before);
  }
  if (s.reads("pmu")) need(CAP_PERFMON, "pmu");
  const bool pings =
      std::any_of(s.path_peers.begin(), s.path_peers.end(), [](const auto& p) { return p.icmp; });
  if (pings && !ping_sockets_allowed())
    need(CAP_NET_RAW, "icmp: peers of path (no group of this user is in net.ipv4.ping_group_range)");
  if (const auto at = parse_listen(s.listen); at && at->port > 0 && at->port < first_free_port) {
    need(CAP_NET_BIND_SERVICE, "port " + std::to_string(at->port));
  }
  return found;
}

}  // namespace binnacle::agent
