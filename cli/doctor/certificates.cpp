#include "cli/doctor/certificate_files.hpp"
#include "cli/doctor/checks.hpp"
#include "cli/doctor/cluster/configured_extender.hpp"

#include <fmt/format.h>

namespace binnacle::cli::doctor {

namespace {

/// Checks the token's file. Only the aggregator knows whether the token is valid; the check `ingest` shows
/// its answer.
finding of_token(const std::string& file) {
  const auto token = last_bytes(file, 64u << 10);
  const std::string name = fmt::format("the agent's token file {}", file);
  constexpr const char* remedy = "project a token of its service account with the audience binnacle there";
  if (token.has_error() && token.error().code == errc::permission)
    return unchecked(fmt::format("{} cannot be read: {}", name, token.error().message),
                     "run this as the agent's user");
  if (token.has_error())
    return failure(fmt::format("{} cannot be read: {}", name, token.error().message), remedy);
  if (token->find_first_not_of(" \t\r\n") == token->npos) return failure(name + " is empty", remedy);
  return ok(name + " holds a token");
}

}  // namespace

findings check_certificates(const place& p) {
  findings out;
  const auto add = [&](findings more) { out.insert(out.end(), more.begin(), more.end()); };
  if (p.agent.has_value() && !p.agent->settings.aggregators.empty()) {
    const agent_settings& s = p.agent->settings;
    add(look_at({"the agent's", s.pem, s.node_name.empty() ? p.host : s.node_name}, p.now));
    if (!s.token_file.empty()) out.push_back(of_token(s.token_file));
  }
  if (!p.scheduler_config.empty()) {
    if (const auto text = last_bytes(p.scheduler_config, 1u << 20); text.has_value()) {
      const auto view = parse_scheduler_config(*text, p.scheduler_config);
      // If the file itself is wrong, the check `extender` says so.
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
