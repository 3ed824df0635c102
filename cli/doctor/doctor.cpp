#include "cli/doctor/doctor.hpp"

#include "cli/doctor/agent/find_agent.hpp"
#include "cli/doctor/checks.hpp"
#include "cli/doctor/report.hpp"
#include "cli/progress.hpp"
#include "cli/screen.hpp"
#include "common/system/host_name.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>

namespace binnacle::cli::doctor {

place place_of(const connection& to, const doctor_arguments& what) {
  place p;
  // Kubernetes and certificates name nodes in lower case.
  p.host = lowered(host_name());
  if (p.host.empty()) p.host = "this machine";
  p.to = to;
  p.scheduler_config = what.scheduler_config;
  p.extenders = what.extenders;
  p.kube_config = to.cluster.config;
  p.kube_context = to.cluster.context;
  p.account = what.account;
  p.variables = [](const char* name) { return std::getenv(name); };
  p.now = std::chrono::system_clock::now();
  p.patience = std::chrono::seconds(what.timeout_s);
  p.agent = find_agent({}, what.agent_config, p.patience);
  return p;
}

int doctor_command(const connection& to, const doctor_arguments& what, const terminal& on) {
  for (const std::string& name : what.only) {
    if (std::ranges::find(checks(), name, &check::name) != checks().end()) continue;
    on.err << fmt::format("binnacle: there is no check '{}'; see binnacle doctor --help\n", name);
    return exit_usage;
  }
  const place p = place_of(to, what);
  std::vector<chapter> all;
  {
    progress shown(on, "doctor", what.only.empty() ? checks().size() : what.only.size());
    for (const check& c : checks()) {
      const bool wanted = what.only.empty() || std::ranges::find(what.only, c.name) != what.only.end();
      if (!wanted) continue;
      shown.step(fmt::format("{}, {}", c.name, c.summary));
      all.push_back({std::string(c.name), c.look(p)});
    }
  }
  const std::size_t width = on.is_tty ? std::clamp<std::size_t>(screen_dimensions().width, 60, 120) : 100;
  on.out << (on.json ? as_json(p.host, all) : as_text(p.host, all, on.with, width));
  return count(all, grade::failure) > 0 ? exit_problem : exit_ok;
}

}  // namespace binnacle::cli::doctor
