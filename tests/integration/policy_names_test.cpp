#include "agent/sampling/interest.hpp"
#include "aggregator/core/core.hpp"
#include "aggregator/policy/text/yaml.hpp"
#include "common/wire/agent_session.hpp"
#include "common/wire/aggregator_session.hpp"
#include "common/wire/names.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// A metric's name on its way from a policy to the agents' reading plans, with the real parts of both ends.
namespace binnacle::policy_names_test {

using namespace std::chrono_literals;

constexpr instant start = instant(1h);

/// One character of each kind that the pattern of our CRD's `metricname` permits. The pattern of TAS permits
/// neither ':' nor '.'.
constexpr std::string_view alphabet = "aZ09_-:.";

/// Every name of one to three characters of the alphabet, and names that were seen elsewhere.
std::vector<std::string> names_that_a_crd_admits() {
  std::vector<std::string> names{"cpu-x", "node-load",    "a.b", "-x",      "9lives",
                                 "5min",  "node:cpu:sum", "..",  "__name__"};
  std::vector<std::string> last{""};
  for (int length = 1; length <= 3; ++length) {
    std::vector<std::string> longer;
    for (const std::string& head : last) {
      for (const char c : alphabet) longer.push_back(head + c);
    }
    names.insert(names.end(), longer.begin(), longer.end());
    last = std::move(longer);
  }
  names.push_back("a" + std::string(252, '-'));
  names.push_back(std::string(253, 'z'));
  return names;
}

/// Both ends of one connection after the welcome.
struct connection {
  wire::agent_session agent{wire::agent_session::settings{}};
  wire::aggregator_session aggregator{wire::aggregator_session::settings{}, start};

  connection() {
    wire::hello h;
    h.node = "node-1";
    h.boot_id = "boot";
    REQUIRE(agent.start(h, start).has_value());
    wire::bytes sent;
    agent.take_output(sent);
    aggregator.feed(sent);
    REQUIRE(aggregator.next(start) == wire::aggregator_session::event::hello);
    aggregator.accept({}, start);
    pass_on();
    REQUIRE(agent.next(start) == wire::agent_session::event::welcomed);
    REQUIRE(agent.next(start) == wire::agent_session::event::nothing);
  }
  /// Passes the aggregator's output to the agent.
  void pass_on() {
    wire::bytes sent;
    aggregator.take_output(sent);
    agent.feed(sent);
  }
};

/// The families that the agent reads often because of a policy with one rule on `name` and one on
/// rapl_power_watts.
std::vector<std::string> read_because_of(const std::string& name) {
  const auto text = policy::parse_policies("names.yaml", fmt::format(R"(
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {{name: p, namespace: default}}
spec:
  strategies:
    dontschedule:
      rules:
      - {{metricname: '{}', operator: GreaterThan, target: 1}}
      - {{metricname: rapl_power_watts, operator: GreaterThan, target: 1}}
)",
                                                                     name));
  REQUIRE(text.policies.size() == 1);
  REQUIRE(text.policies.front().usable);
  REQUIRE(text.policies.front().refused.empty());

  const auto names = std::make_shared<const metrics::alias_table>();
  aggregator::core core({}, names, [](const aggregator::change&) {});
  core.policies({{text.policies.front().value}, {}, true}, start);

  connection link;
  REQUIRE(link.aggregator.want(core.readings().interest).has_value());
  link.pass_on();
  REQUIRE(link.agent.next(start) == wire::agent_session::event::interest);
  CHECK(link.agent.left_out().items == 0);
  CHECK(link.agent.now_in() == wire::agent_session::state::streaming);

  agent::interest_book book;
  book.set(0, link.agent.last_interest());
  std::vector<std::string> families;
  for (const auto& wish : book.wanted().wishes) families.push_back(wish.family);
  return families;
}

TEST_SUITE("integration/policy_names") {
  TEST_CASE("no name that a CRD admits ends an agent's session or takes another metric's wish") {
    for (const std::string& name : names_that_a_crd_admits()) {
      CAPTURE(name);
      const auto families = read_because_of(name);
      CHECK(std::ranges::count(families, "rapl_power_watts") == 1);
      // The aggregator wishes for names that a node can have, and for no others.
      CHECK(std::ranges::count(families, name) == (wire::valid_metric_name(name) ? 1 : 0));
    }
  }
}

}  // namespace binnacle::policy_names_test
