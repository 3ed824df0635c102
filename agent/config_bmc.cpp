#include "agent/config_bmc.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <filesystem>

namespace binnacle::agent {
namespace {

error invalid(std::string message) { return {errc::invalid_input, std::move(message)}; }

/// binnacle-ipmi beside our own program, or where a build leaves it.
std::string helper_beside_us() {
  std::error_code bad;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", bad).parent_path();
  const auto installed = folder / "binnacle-ipmi";
  const auto built = folder / "ipmi" / "binnacle-ipmi";
  return !std::filesystem::exists(installed, bad) && std::filesystem::exists(built, bad) ? built : installed;
}

result<void> check_count(const char* key, const std::vector<std::string>& patterns) {
  if (patterns.size() <= ipmi::max_patterns) return {};
  return invalid(fmt::format("{}: at most {} patterns: join some with * and ?", key, ipmi::max_patterns));
}

result<void> check_patterns(const char* key, const std::vector<std::string>& patterns) {
  if (auto right = check_count(key, patterns); !right) return right;
  for (const auto& p : patterns) {
    if (!p.empty() && p.size() <= ipmi::max_pattern) continue;
    return invalid(fmt::format("{}: \"{}\" is no pattern: use 1 to {} bytes of a sensor's name, * and ?", key,
                               p, ipmi::max_pattern));
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

void bind_bmc(config_spec& spec, settings& s) {
  using std::chrono::milliseconds;
  spec.group("The BMC (IPMI)");
  spec.add("bmc-device", s.bmc_device, "the kernel's IPMI device, for the BMC of this machine");
  spec.add("bmc-host", s.bmc_host,
           "a BMC over the network instead: its name or address, :port if it is not 623");
  spec.add_choice("bmc-protocol", s.bmc_protocol, {"2.0", "1.5"}, "IPMI over the network");
  spec.add("bmc-credentials-file", s.bmc_credentials_file,
           "file with lines user: and password:, mode 0600, for bmc-host");
  spec.add("bmc-defaults", s.bmc_defaults,
           "read temperatures, fans, power and the chassis' state without being asked");
  spec.add("bmc-sensors", s.bmc_sensors,
           "sensors to read besides those that policies watch: names with * and ?");
  spec.add("bmc-exclude", s.bmc_exclude, "sensors never to read: names with * and ?");
  spec.add("bmc-roles", s.bmc_roles,
           "what sensors with odd names are: PATTERN=inlet, cpu, system_power, psu_input, psu_output, none");
  spec.add("bmc-period", s.bmc_period, milliseconds(100), std::chrono::hours(1),
           "time between two reads of a sensor, longer where the BMC is slow");
  spec.add("bmc-budget", s.bmc_budget, 0.1, 50, "percent of the BMC's time that reading may take");
  spec.add("ipmi-helper", s.ipmi_helper,
           "the program that speaks with the BMC (default: binnacle-ipmi beside binnacle-agent)");
  spec.add("ipmi-config", s.ipmi_config,
           "file with its other settings, see binnacle-ipmi --print-config (workarounds, cache folder)");
  spec.add("ipmi-socket", s.ipmi_socket,
           "socket of a binnacle-ipmi that runs as a sidecar; its bmc-device, bmc-host and credentials are "
           "its own");
}

result<bmc_options> make_bmc_options(const settings& s) {
  bmc_options o;
  // What nobody waits for goes to the board at these ticks: no later than the sensor's next turn.
  o.period = std::min(s.period, s.bmc_period);
  o.sys_root = s.sys_root;
  o.socket = s.ipmi_socket;
  o.helper = s.ipmi_helper.empty() ? helper_beside_us() : s.ipmi_helper;
  if (s.bmc_host.empty() && !s.bmc_credentials_file.empty()) {
    return invalid("bmc-credentials-file is set but no bmc-host: the device of this machine needs none");
  }
  if (!s.bmc_host.empty() && s.bmc_credentials_file.empty() && s.ipmi_socket.empty()) {
    return invalid(
        "bmc-host is set but no bmc-credentials-file: write lines user: and password: into a file "
        "of mode 0600");
  }
  if (s.bmc_host.empty()) {
    o.device = s.bmc_device;
    o.arguments = {"--device", s.bmc_device};
  } else {
    o.credentials_file = s.bmc_credentials_file;
    o.arguments = {"--host",       s.bmc_host,           "--protocol",
                   s.bmc_protocol, "--credentials-file", s.bmc_credentials_file};
  }
  if (!s.ipmi_config.empty()) {
    o.arguments.emplace_back("--config");
    o.arguments.push_back(s.ipmi_config);
  }
  o.arguments.emplace_back("--log-level");
  o.arguments.push_back(s.log_level);

  for (const auto& [key, patterns] :
       {std::pair("bmc-sensors", &s.bmc_sensors), {"bmc-exclude", &s.bmc_exclude}}) {
    if (auto right = check_patterns(key, *patterns); !right) return right.error();
  }
  auto roles = roles_of(s.bmc_roles);
  if (!roles) return roles.error();
  o.select.defaults = s.bmc_defaults;
  o.select.include = s.bmc_sensors;
  o.select.exclude = s.bmc_exclude;
  o.select.roles = *std::move(roles);
  o.select.period_ms =
      static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(s.bmc_period).count());
  o.select.budget_ratio = s.bmc_budget / 100;
  return o;
}

}  // namespace binnacle::agent
