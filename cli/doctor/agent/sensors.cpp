#include "cli/blocking.hpp"
#include "cli/doctor/agent/probe_findings.hpp"
#include "cli/doctor/checks.hpp"
#include "common/async/run_program.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include <unistd.h>

namespace binnacle::cli::doctor {
namespace {

constexpr auto probe_patience = std::chrono::seconds(30);  // the probe also asks a BMC

}  // namespace

findings check_sensors(const place& p) {
  if (p.agent.has_error()) return {unchecked("what could be read is not known: " + p.agent.error().message)};
  async::program probe{p.agent->program, p.agent->arguments};
  for (const char* word : {"--probe", "--output", "json"}) probe.arguments.emplace_back(word);
  const auto ran = blocking(async::run_program(std::move(probe), async::within(probe_patience)));
  if (ran.has_error())
    return {unchecked(fmt::format("`binnacle-agent --probe` did not end: {}", ran.error().message),
                      "run it by hand")};
  boost::system::error_code ec;
  const json::value said = json::parse(ran->output, ec);
  if (ec || list(said, "sources").empty()) {
    return {failure(fmt::format("`binnacle-agent --probe` printed no findings, but: {}",
                                ran->errors.substr(0, ran->errors.find('\n'))),
                    "mend what it says, then run it by hand")};
  }
  return findings_of_probe(said, ::geteuid());
}

}  // namespace binnacle::cli::doctor
