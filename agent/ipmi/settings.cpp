#include "agent/ipmi/settings.hpp"

#include <fmt/format.h>
#include <freeipmi/api/ipmi-api.h>

#include <array>

namespace binnacle::ipmi {
namespace {

struct workaround {
  std::string_view name;
  unsigned flag_2_0;  // zero: the name has no meaning for IPMI 2.0
  unsigned flag_1_5;
};
// Source: FreeIPMI 1.6, ipmi-sensors(8), WORKAROUNDS.
constexpr std::array<workaround, 8> known_workarounds = {{
    {"authcap", IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_AUTHENTICATION_CAPABILITIES,
     IPMI_WORKAROUND_FLAGS_OUTOFBAND_AUTHENTICATION_CAPABILITIES},
    {"nochecksumcheck", IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_NO_CHECKSUM_CHECK,
     IPMI_WORKAROUND_FLAGS_OUTOFBAND_NO_CHECKSUM_CHECK},
    {"idzero", 0, IPMI_WORKAROUND_FLAGS_OUTOFBAND_ACCEPT_SESSION_ID_ZERO},
    {"intel20", IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_INTEL_2_0_SESSION, 0},
    {"supermicro20", IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_SUPERMICRO_2_0_SESSION, 0},
    {"sun20", IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_SUN_2_0_SESSION, 0},
    {"opensesspriv", IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_OPEN_SESSION_PRIVILEGE, 0},
    {"integritycheckvalue", IPMI_WORKAROUND_FLAGS_OUTOFBAND_2_0_NON_EMPTY_INTEGRITY_CHECK_VALUE, 0},
}};

}  // namespace

config_spec bind(settings& s) {
  config_spec spec(
      "binnacle-ipmi",
      "Reads a BMC's sensors for binnacle-agent, which starts this program as its child or connects to its "
      "socket.\nIt sends only commands that read, open sessions and reserve the SDR. --list prints the "
      "sensors for people.\nThis program links FreeIPMI and is distributed under GPL-3.0-or-later.",
      "binnacle-ipmi --list --host 10.0.0.7 --credentials-file /etc/binnacle/bmc");
  spec.group("The BMC");
  spec.add("device", s.device, "the kernel's OpenIPMI device, for the BMC of this machine");
  spec.add("host", s.host, "ask a BMC over LAN instead: its name or address, :port if it is not 623");
  spec.add_choice("protocol", s.protocol, lan_versions(), "version of IPMI over LAN");
  spec.add("credentials-file", s.credentials_file,
           "file with lines user: and password: (and k_g:), closed to others (mode 0600); LAN only");
  spec.add_choice<privilege_level>("privilege", s.privilege,
                                   {{"user", privilege_level::user},
                                    {"operator", privilege_level::operator_},
                                    {"admin", privilege_level::admin}},
                                   "privilege level asked for over LAN; user is enough on most boards");
  spec.add("cipher-suite", s.cipher_suite, 1, 17,
           "cipher suite of IPMI 2.0: 3 (SHA1, AES) or 17 (SHA256, AES)");
  spec.add("workarounds", s.workarounds,
           "workarounds for BMCs that break the specification: authcap, intel20, supermicro20… (FreeIPMI's "
           "names)");
  spec.add("call-timeout", s.call_timeout, std::chrono::milliseconds(500), std::chrono::minutes(1),
           "how long to wait for an answer over LAN");
  spec.add("retry", s.retry, std::chrono::milliseconds(100), std::chrono::minutes(1),
           "how long to wait before a BMC that was lost is tried again; doubles with each failure, up to a "
           "minute");
  spec.add("repository-period", s.repository_period, std::chrono::seconds(1), std::chrono::seconds(55),
           "how often to ask whether the BMC's sensors have changed; a BMC closes a session that is idle for "
           "60 s");
  spec.add("cache-folder", s.cache_folder, "where the sensors' descriptions (SDR) are kept between starts");
  spec.add("roles", s.roles,
           "what sensors with unusual names measure: PATTERN=inlet, cpu, system_power, psu_input…");

  spec.group("The agent");
  spec.add("socket", s.socket, "Unix socket to serve one agent at; empty: stdin and stdout");
  spec.add_choice<socket_users>("socket-mode", s.socket_mode,
                                {{"0600", socket_users::owner}, {"0660", socket_users::group}},
                                "who may connect to the socket: its file mode");

  spec.group("Running");
  spec.add("log-level", s.log_level, "the lowest level that is logged to stderr");
  spec.add("list", s.list, "print the BMC and its sensors with their values, then end");
  spec.add("output", s.output, "form of --list; json: one message of the protocol on each line");
  spec.alias("o", "output", "short");
  return spec;
}

result<std::vector<role_rule>> complete(const settings& s) {
  std::vector<role_rule> rules;
  for (const auto& text : s.roles) {
    auto rule = parse_role_rule(text);
    if (!rule) return invalid("roles: " + rule.error().message);
    rules.push_back(*std::move(rule));
  }
  if (s.host.empty() && !s.credentials_file.empty()) {
    return invalid(
        "credentials-file is set but host is not: set host as well, or remove credentials-file to read "
        "in-band");
  }
  if (!s.host.empty() && s.credentials_file.empty()) {
    return invalid("host is set but no credentials-file: write user and password into a file of mode 0600");
  }
  if (const auto flags = workaround_flags(s); !flags) return flags.error();
  // The kernel's sockaddr_un holds 108 bytes with the NUL.
  if (s.socket.size() > 107)
    return invalid("socket: the path is longer than the 107 bytes a Unix socket can have");
  return rules;
}

result<unsigned> workaround_flags(const settings& s) {
  unsigned flags = 0;
  for (const auto& name : s.workarounds) {
    unsigned found = 0;
    std::string names;
    for (const auto& w : known_workarounds) {
      const auto flag = s.protocol == lan_version::ipmi_2_0 ? w.flag_2_0 : w.flag_1_5;
      if (w.name == name) found = flag;
      if (flag != 0) names += names.empty() ? std::string(w.name) : fmt::format(", {}", w.name);
    }
    if (found == 0) {
      return invalid(
          fmt::format("workarounds: IPMI {} has no \"{}\": use {}", to_string(s.protocol), name, names));
    }
    flags |= found;
  }
  return flags;
}

}  // namespace binnacle::ipmi
