#pragma once

#include "agent/ipmi/protocol/lan_version.hpp"
#include "agent/ipmi/protocol/protocol.hpp"
#include "common/config/config.hpp"

#include <string>
#include <vector>

namespace binnacle::ipmi {

/// The privilege level with which a BMC is asked over LAN. Source: IPMI 2.0, 6.8.
enum class privilege_level : unsigned char { user, operator_, admin };

/// Who may connect to the helper's socket.
enum class socket_users : unsigned char { owner, group };

/// The helper's settings with their defaults. Each is a key of the YAML file and a flag. What is to be read
/// is not among them: the agent says that.
struct settings {
  std::string device = "/dev/ipmi0";
  std::string host;  ///< empty: in-band
  lan_version protocol = lan_version::ipmi_2_0;
  std::string credentials_file;
  privilege_level privilege = privilege_level::user;
  std::int64_t cipher_suite = 3;
  std::vector<std::string> workarounds;
  duration call_timeout = std::chrono::seconds(5);
  duration retry = std::chrono::seconds(1);  ///< pause after the first failure; doubled up to a minute
  duration repository_period =
      std::chrono::seconds(30);  ///< a BMC closes a session that is idle for 60 s (IPMI 2.0, 6.12.15)

  std::string cache_folder = "/var/cache/binnacle-ipmi";
  std::vector<std::string> roles;  ///< "PATTERN=inlet"

  std::string socket;  ///< empty: stdin and stdout
  socket_users socket_mode = socket_users::owner;

  binnacle::log_level log_level = binnacle::log_level::info;
  bool list = false;
  output_form output = output_form::text;

  /// The longest that one turn may take; `hello` tells it to the agent. Opening over LAN takes several
  /// exchanges.
  duration quiet() const noexcept { return 4 * call_timeout; }
};

/// The description of `s` for the command line and the file. `s` must outlive the result.
config_spec bind(settings& s);

/// Checks the settings against each other, and gives the rules for sensors with unusual names. Errors:
/// invalid_input.
result<std::vector<role_rule>> complete(const settings& s);

/// FreeIPMI's flags for the names in the settings (those of -W in its tools). Errors: invalid_input, with the
/// valid names.
result<unsigned> workaround_flags(const settings& s);

}  // namespace binnacle::ipmi
