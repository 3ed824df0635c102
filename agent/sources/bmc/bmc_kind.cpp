#include "agent/sources/bmc/bmc_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace binnacle::agent {
namespace {

/// binnacle-ipmi beside our own program, or where a build leaves it.
std::string helper_beside_us() {
  std::error_code bad;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", bad).parent_path();
  const auto installed = folder / "binnacle-ipmi";
  const auto built = folder / "ipmi" / "binnacle-ipmi";
  return !std::filesystem::exists(installed, bad) && std::filesystem::exists(built, bad) ? built : installed;
}

/// The socket of the unit binnacle-ipmi.service, which the agent's unit names (packaging/systemd). Empty
/// where there is no such unit.
std::string socket_of_unit() {
  const char* path = std::getenv("BINNACLE_IPMI_SOCKET");
  return path != nullptr ? path : "";
}

result<void> check_count(const char* key, const std::vector<std::string>& patterns) {
  if (patterns.size() <= ipmi::max_patterns) return {};
  return invalid(fmt::format("{}: at most {} patterns: join some with * and ?", key, ipmi::max_patterns));
}

result<void> check_patterns(const char* key, const std::vector<std::string>& patterns) {
  if (auto right = check_count(key, patterns); !right) return right;
  for (const auto& p : patterns) {
    if (!p.empty() && p.size() <= ipmi::max_pattern) continue;
    return invalid(fmt::format("{}: \"{}\" is not a pattern: use 1 to {} bytes of a sensor's name, * and ?",
                               key, p, ipmi::max_pattern));
  }
  return {};
}

result<std::vector<ipmi::role_rule>> roles_of(const std::vector<std::string>& texts) {
  if (auto right = check_count("bmc-roles", texts); !right) return right.error();
  std::vector<ipmi::role_rule> rules;
  for (const auto& text : texts) {
    auto rule = ipmi::parse_role_rule(text);
    if (!rule) return invalid("bmc-roles: " + rule.error().message);
    rules.push_back(*std::move(rule));
  }
  return rules;
}

}  // namespace

void bmc_kind::bind(config_spec& spec) {
  using std::chrono::milliseconds;
  spec.group("bmc: the management controller (IPMI)");
  spec.add("bmc-device", device_, "the kernel's IPMI device, for this machine's BMC");
  spec.add("bmc-host", host_, "a BMC over the network instead: its name or address, :port if it is not 623");
  spec.add_choice("bmc-protocol", protocol_, ipmi::lan_versions(), "IPMI over the network");
  spec.add("bmc-credentials-file", credentials_file_,
           "file with lines user: and password:, mode 0600, for bmc-host");
  spec.add("bmc-defaults", defaults_,
           "read temperatures, fans, power and the chassis' state even if no policy watches them");
  spec.add("bmc-sensors", sensors_,
           "more sensors to read, besides those that policies watch: names with * and ?");
  spec.add("bmc-exclude", exclude_, "sensors never to read: names with * and ?");
  spec.add("bmc-roles", roles_,
           "what sensors with unusual names measure: PATTERN=inlet, cpu, system_power, psu_input, "
           "psu_output, none");
  spec.add("bmc-period", period_, milliseconds(100), std::chrono::hours(1),
           "time between two reads of a sensor, longer where the BMC is slow");
  spec.add("bmc-budget", budget_percent_, 0.1, 50, "percent of the BMC's time that reading may take");
  spec.add("ipmi-helper", helper_,
           "the program that speaks with the BMC (default: binnacle-ipmi beside binnacle-agent)");
  spec.add("ipmi-config", helper_config_,
           "file with the other settings of binnacle-ipmi (workarounds, cache folder); see binnacle-ipmi "
           "--print-config");
  spec.add("ipmi-socket", socket_,
           "socket of a binnacle-ipmi that runs as a sidecar; the sidecar has its own settings for device, "
           "host and credentials");
}

result<void> bmc_kind::complete(const settings& s) {
  if (const auto right = options(s); !right) return right.error();
  return {};
}

std::unique_ptr<source> bmc_kind::make(const settings& s, const source_parts& with) const {
  return std::make_unique<bmc_source>(options(s).value(), with.log.part("bmc"));
}

result<bmc_options> bmc_kind::options(const settings& s) const {
  bmc_options o;
  // Readings that no policy waits for go to the board at these ticks. They are at most bmc-period apart, so
  // such a reading is there before the sensor's next turn.
  o.period = std::min(s.period, period_);
  o.sys_root = s.sys_root;
  // The unit reads this machine's BMC. It must not take the place of what these settings ask for.
  const bool own_helper = helper_.empty() || helper_ == helper_beside_us();
  o.socket = socket_.empty() && host_.empty() && own_helper ? socket_of_unit() : socket_;
  o.helper = helper_.empty() ? helper_beside_us() : helper_;
  if (host_.empty() && !credentials_file_.empty()) {
    return invalid(
        "bmc-credentials-file is set but bmc-host is not: the device of this machine needs no password; set "
        "bmc-host, or remove bmc-credentials-file");
  }
  if (!host_.empty() && credentials_file_.empty() && socket_.empty()) {
    return invalid(
        "bmc-host is set but no bmc-credentials-file: write lines user: and password: into a file "
        "of mode 0600");
  }
  if (host_.empty()) {
    o.device = device_;
    o.arguments = {"--device", device_};
  } else {
    o.credentials_file = credentials_file_;
    o.arguments = {
        "--host",         host_, "--protocol", std::string(to_string(protocol_)), "--credentials-file",
        credentials_file_};
  }
  if (!helper_config_.empty()) {
    o.arguments.emplace_back("--config");
    o.arguments.push_back(helper_config_);
  }
  o.arguments.emplace_back("--log-level");
  o.arguments.emplace_back(to_string(s.log_level));

  for (const auto& [key, patterns] : {std::pair("bmc-sensors", &sensors_), {"bmc-exclude", &exclude_}}) {
    if (auto right = check_patterns(key, *patterns); !right) return right.error();
  }
  auto roles = roles_of(roles_);
  if (!roles) return roles.error();
  o.select.defaults = defaults_;
  o.select.include = sensors_;
  o.select.exclude = exclude_;
  o.select.roles = *std::move(roles);
  o.select.period_ms =
      static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(period_).count());
  o.select.budget_ratio = budget_percent_ / 100;
  return o;
}

}  // namespace binnacle::agent
