// binnacle-ipmi: reads the sensors of one BMC for binnacle-agent, in a process of its own. It links FreeIPMI,
// so this binary is distributed under GPL-3.0-or-later.
#include "agent/ipmi/end_signal.hpp"
#include "agent/ipmi/list.hpp"
#include "agent/ipmi/monitor.hpp"
#include "agent/ipmi/settings.hpp"
#include "agent/process/capabilities.hpp"
#include "agent/process/standard_descriptors.hpp"

#include <freeipmi/spec/ipmi-privilege-level-spec.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

namespace binnacle::ipmi {
namespace {

int freeipmis(privilege_level level) noexcept {
  switch (level) {
    case privilege_level::user: return IPMI_PRIVILEGE_LEVEL_USER;
    case privilege_level::operator_: return IPMI_PRIVILEGE_LEVEL_OPERATOR;
    case privilege_level::admin: break;
  }
  return IPMI_PRIVILEGE_LEVEL_ADMIN;
}

link_options make_link_options(const settings& s) {
  link_options o;
  o.device = s.device;
  o.host = s.host;
  o.lan_1_5 = s.protocol == lan_version::ipmi_1_5;
  o.privilege = freeipmis(s.privilege);
  o.cipher_suite = static_cast<unsigned>(s.cipher_suite);
  o.workarounds = workaround_flags(s).value();
  o.call_timeout = s.call_timeout;
  return o;
}

/// Gives up for good, before any contact with a BMC, what the program never needs: every capability, the way
/// to get new ones (no_new_privs), core dumps (they would hold the password), and every descriptor but 0, 1
/// and 2. A process of root can then still open /dev/ipmi0 and files, because root owns them. Errors: io.
result<void> drop_privileges() {
  const auto failed = [](const char* what) {
    return error{errc::io, std::string("cannot give up ") + what + " (error " + std::to_string(errno) + ")"};
  };
  // The agent opens its sockets close-on-exec, so nothing is left open by it. Another parent may leave
  // descriptors open.
  agent::close_from(3);
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return failed("core dumps");
  return agent::keep_only(0);
}

int run(int argc, const char* const* argv) {
  settings s;
  auto spec = bind(s);
  const auto refuse = [](const error& why, int status) {
    std::fprintf(stderr, "binnacle-ipmi: %s\n", why.message.c_str());
    return status;
  };
  const auto parsed = spec.parse(argc, argv, std::cout);
  if (!parsed) return refuse(parsed.error(), 2);
  if (parsed->exit) return 0;
  auto roles = complete(s);
  if (!roles) return refuse(roles.error(), 2);
  if (const auto dropped = drop_privileges(); !dropped) return refuse(dropped.error(), 1);

  const logger log("ipmi", s.list ? std::max(s.log_level, log_level::warning) : s.log_level);
  for (const auto& note : parsed->notes) log.warning("{}", note);
  monitor work(s, make_link_options(s), *std::move(roles), log);
  if (s.list) {
    const auto listed = list(work, s.output == output_form::json, std::cout);
    std::cout.flush();
    return listed ? 0 : refuse(listed.error(), 1);
  }
  end_at_signals();
  if (s.socket.empty()) {
    if (::isatty(0) != 0) {
      log.warning("speaking with a terminal instead of binnacle-agent; to look at a BMC use --list");
    }
    const auto agent = peer::over(0, 1);
    work.serve(*agent);
    return 0;
  }
  const auto agent = peer::listen(s.socket, s.socket_mode == socket_users::group ? 0660u : 0600u);
  if (!agent) return refuse(agent.error(), 2);
  log.info("waiting for an agent at {}", s.socket);
  work.serve(**agent);
  return 0;
}

}  // namespace
}  // namespace binnacle::ipmi

int main(int argc, char** argv) {
  binnacle::agent::open_standard_descriptors();
  ::signal(SIGPIPE, SIG_IGN);
  try {
    return binnacle::ipmi::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "binnacle-ipmi: %s\n", e.what());
    return 1;
  }
}
