#pragma once

#include "agent/ipmi/protocol/protocol.hpp"
#include "tests/support/bmc/bmc_sim.hpp"

#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace binnacle::support {

/// A BMC, and the flags for reading it over LAN as administrator.
struct lan_fixture {
  explicit lan_fixture(board_spec board = boards::two_sockets()) : bmc(std::move(board)) {
    write_credentials(bmc_admin, bmc_admin_password);
  }
  void write_credentials(const std::string& user, const std::string& password) const {
    const auto file = bmc.folder() + "/credentials";
    bmc.write("credentials", "user: " + user + "\npassword: " + password + "\n");
    ::chmod(file.c_str(), 0600);
  }
  std::vector<std::string> flags(const std::string& privilege = "admin",
                                 const std::string& call_timeout = "1s") const {
    return {"--host",
            bmc.address(),
            "--credentials-file",
            bmc.folder() + "/credentials",
            "--privilege",
            privilege,
            "--cache-folder",
            bmc.folder() + "/cache",
            "--call-timeout",
            call_timeout,
            "--retry",
            "100ms",
            "--log-level",
            "debug"};
  }
  bmc_sim bmc;
};

/// Selects the default list, with this period.
inline ipmi::wanted_sensors every(std::uint32_t period_ms) {
  ipmi::wanted_sensors s;
  s.period_ms = period_ms;
  return s;
}

}  // namespace binnacle::support
