#include "aggregator/core_log.hpp"

#include <string>

namespace binnacle::aggregator {

void core_log::say_left_out(instant now) {
  if (const auto more = node_lines_.left_out(now))
    log_.info("{} more changes of verdicts in the last ten seconds were not logged", more);
  if (const auto more = learning_lines_.left_out(now))
    log_.warning("the power curves of {} more nodes began to be learned again in the last minute", more);
}

void core_log::say(const policy_event& e, instant now) {
  const std::string who = e.what.policy.text();
  if (e.node.empty()) {
    log_.info("policy {}: {}", who, e.what.message);
    return;
  }
  say_left_out(now);
  if (!node_lines_.take(now)) return;
  log_.info("policy {} on {}{}: {}", who, e.node, e.what.dry_run ? " (DryRun)" : "", e.what.message);
}

void core_log::say(const policy::condition& c) const {
  // A reworded condition is not logged again. During an agent's first batch the metrics get their values one
  // by one, and the text of MetricMissing gets shorter each time.
  if (!c.active || c.reworded) return;
  log_.warning("policy {}{}{}: {}: {}", c.policy.text(), c.strategy ? ", " : "",
               c.strategy ? policy::to_string(*c.strategy) : "", policy::to_string(c.what), c.message);
}

void core_log::say(const learning_restarted& r, instant now) {
  say_left_out(now);
  if (!learning_lines_.take(now)) return;
  log_.warning("node {}: its power curve is learned from nothing again, because {}", r.node, r.why);
}

}  // namespace binnacle::aggregator
