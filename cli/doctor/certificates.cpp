#include "cli/doctor/certificate_files.hpp"
#include "cli/doctor/checks.hpp"
#include "cli/doctor/scheduler_view.hpp"

#include <utility>

namespace binnacle::cli::doctor {

findings check_certificates(const place& p) {
  findings out;
  const auto add = [&](findings more) { out.insert(out.end(), more.begin(), more.end()); };
  if (p.agent.has_value() && !p.agent->settings.aggregators.empty()) {
    const agent_settings& s = p.agent->settings;
    add(look_at({"the agent's", s.pem, s.node_name.empty() ? p.host : s.node_name}, p.now));
  }
  if (!p.scheduler_config.empty()) {
    if (const auto text = last_bytes(p.scheduler_config, 1u << 20); text.has_value()) {
      const auto view = parse_scheduler_config(*text, p.scheduler_config);
      // What is wrong with the file itself is the extender check's to say.
      if (view.has_value()) add(look_at({"the scheduler's", view->pem, {}, true}, p.now));
    }
  }
  if (!p.to.pem.authority.empty() || !p.to.pem.certificate.empty())
    add(look_at({"your", p.to.pem, {}}, p.now));
  if (out.empty())
    out.push_back(unchecked("no TLS files are known here",
                            "name yours with --ca, --cert and --key, the agent's with --agent-config"));
  return out;
}

}  // namespace binnacle::cli::doctor
