#include "aggregator/policy/text/yaml.hpp"
#include "common/system/process_cost.hpp"
#include "tests/aggregator/ingest/house.hpp"

#include <fmt/format.h>

// How often agents are asked to read depends on how much CPU time the loop's thread really uses.
namespace binnacle::ingest::test {
namespace reading_load_test {

using event = wire::agent_session::event;

/// A policy with a rule for each of these metrics, so that agents must read them.
policy::policy watching(const std::string& name_space, const std::vector<std::string>& metrics) {
  std::string rules;
  for (const std::string& m : metrics)
    rules += fmt::format("        - {{metricname: {}, operator: GreaterThan, target: 1}}\n", m);
  const auto parsed = policy::parse_policies(
      "test.yaml",
      fmt::format("apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: {{name: p, "
                  "namespace: {}}}\nspec:\n  strategies:\n    dontschedule:\n      rules:\n{}",
                  name_space, rules));
  REQUIRE(parsed.policies.size() == 1);
  return parsed.policies.front().value;
}

/// Uses so much CPU time of the loop's thread, however busy the machine is.
void work(duration span) {
  const duration until = own_thread_time() + span;
  for (volatile double x = 0; own_thread_time() < until;) x = x + 1;
}

/// Reports the load of this thread to the core: real CPU time over a time span that the test chooses. So a
/// busy machine does not change the result.
struct measured_loop {
  /// Ten seconds of the core's time in which the thread works for this share. They pass as fast as they can.
  void ten_seconds(aggregator::core& core, double part) {
    const duration before = own_thread_time();
    if (part > 0) work(20ms);
    const duration worked = own_thread_time();
    now += part > 0 ? std::chrono::duration_cast<duration>((worked - before) / part) : 10s;
    core.load(meter.next(worked, now), now);
  }
  instant now = boot_clock::now();
  load_meter meter{own_thread_time(), now};
};

std::uint32_t period_of(const wire::interest& all, std::string_view family) {
  for (const auto& w : all.wishes) {
    if (w.family == family) return w.period_ms;
  }
  return 0;
}

TEST_SUITE("aggregator/ingest/reading_load") {
  TEST_CASE(
      "agents are asked to read less while the loop's thread is busy, the greedy namespace first, and as "
      "before when it is calm") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      visitor agent(h, "node-1");
      co_await agent.hello("node-1");
      REQUIRE(agent.last == event::welcomed);
      std::vector<std::string> many;
      for (int i = 0; i < 40; ++i) many.push_back(fmt::format("exporter_metric_{}", i));
      measured_loop measured;
      h.core.policies({{watching("greedy", many), watching("modest", {"rapl_power_watts"})}, {}, true},
                      measured.now);
      co_await agent.next();
      REQUIRE(agent.last == event::interest);
      const wire::interest wished = agent.session.last_interest();
      REQUIRE(period_of(wished, "exporter_metric_7") == 1000);
      REQUIRE(period_of(wished, "rapl_power_watts") == 200);

      // Ten busy seconds alone may be a fleet that reconnects: they slow nothing.
      measured.ten_seconds(h.core, 0.95);
      CHECK(h.core.readings().load == doctest::Approx(0.95).epsilon(0.1));
      CHECK(h.core.readings().granted() == h.core.readings().wished());
      measured.ten_seconds(h.core, 0.95);
      CHECK(h.core.readings().granted() < h.core.readings().wished());
      co_await agent.next();
      REQUIRE(agent.last == event::interest);
      CHECK(period_of(agent.session.last_interest(), "exporter_metric_7") > 1000);
      CHECK(period_of(agent.session.last_interest(), "rapl_power_watts") == 200);

      for (int i = 0; i < 40 && h.core.readings().granted() < h.core.readings().wished(); ++i)
        measured.ten_seconds(h.core, 0);
      CHECK(h.core.readings().granted() == h.core.readings().wished());
      // The agent hears of each step. The last interest is what was wished for.
      while (period_of(agent.session.last_interest(), "exporter_metric_7") != 1000) {
        co_await agent.next();
        REQUIRE(agent.last == event::interest);
      }
      CHECK(agent.session.last_interest() == wished);
      agent.peer->close();
      co_await h.stop();
    });
  }
}

}  // namespace reading_load_test
}  // namespace binnacle::ingest::test
