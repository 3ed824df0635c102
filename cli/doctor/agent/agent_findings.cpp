#include "cli/doctor/agent/agent_findings.hpp"

#include "cli/views/units.hpp"
#include "common/absence.hpp"
#include "common/exposition/exposition.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace binnacle::cli::doctor {
namespace {

std::string label(const exposition::sample& s, std::string_view name) {
  for (const auto& [key, value] : s.labels) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace

findings findings_of_agent_metrics(std::string_view exposition_text) {
  std::vector<std::string> linked, lost, down;
  std::int64_t stuck = 0;
  std::vector<std::string> unbelieved, set_aside;
  const auto parsed = exposition::parse(exposition_text, {}, [&](const exposition::sample& s) {
    if (s.name == "binnacle_agent_connected")
      (s.value == 1 ? linked : lost).push_back(label(s, "aggregator"));
    if (s.name == "binnacle_agent_source_up" && s.value == 0) down.push_back(label(s, "source"));
    if (s.name == "binnacle_agent_frozen_sensors") stuck += static_cast<std::int64_t>(s.value);
    const std::string reason = label(s, "reason");
    if (s.name == "binnacle_agent_absent_series" && s.value > 0 && is_disbelieved(absence_of(reason)))
      unbelieved.push_back(fmt::format("{} series of {} ({})", static_cast<std::int64_t>(s.value),
                                       label(s, "source"), reason_words(reason)));
    if (s.name == "host_power_set_aside" && s.value > 0)
      set_aside.push_back(fmt::format("{} ({})", label(s, "source"), reason_words(reason)));
  });
  if (parsed.has_error())
    return {warning(fmt::format("the agent's /metrics cannot be read: {}", parsed.error().message),
                    "is that binnacle-agent's port?")};
  findings out;
  if (!linked.empty()) out.push_back(ok(fmt::format("the agent has a link to {}", fmt::join(linked, ", "))));
  if (!lost.empty()) {
    const std::string sentence = fmt::format("the agent has no link to {}", fmt::join(lost, ", "));
    const char* remedy = "see the check ingest, and its log: it says who refused it and why";
    out.push_back(linked.empty() ? failure(sentence, remedy) : warning(sentence, remedy));
  }
  if (!down.empty())
    out.push_back(
        warning(fmt::format("{} cannot be read: {}",
                            counted(static_cast<std::int64_t>(down.size()), "source"), fmt::join(down, ", ")),
                "see the check sensors"));
  if (stuck > 0)
    out.push_back(warning(fmt::format("{} {} stuck: the readings stay exactly the same while others move",
                                      counted(stuck, "sensor"), stuck == 1 ? "is" : "are"),
                          "reset the BMC or the driver; frozen: absent keeps such values from policies"));
  if (!unbelieved.empty())
    out.push_back(warning(
        fmt::format("numbers that cannot be true count as absent: {}", fmt::join(unbelieved, ", ")),
        "binnacle-agent --probe names the counters; agent/README.md has the rules and what mends them"));
  if (!set_aside.empty())
    out.push_back(
        warning(fmt::format("host_power_watts does not use {}, which contradicts other sensors",
                            fmt::join(set_aside, ", ")),
                "the status of the source host shows the numbers (binnacle status); reset the BMC, or "
                "update the firmware"));
  return out;
}

bool has_a_link(std::string_view exposition_text) {
  bool any = false;
  const auto parsed = exposition::parse(exposition_text, {}, [&any](const exposition::sample& s) {
    any = any || (s.name == "binnacle_agent_connected" && s.value == 1);
  });
  return parsed.has_value() && any;
}

}  // namespace binnacle::cli::doctor
