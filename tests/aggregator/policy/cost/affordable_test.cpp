#include "aggregator/policy/cost/affordable.hpp"

#include "common/metrics/alias_table.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace affordable_test {
namespace {

using namespace binnacle;
using namespace binnacle::policy;

/// A policy with rules on `columns` metrics that no other policy uses.
binnacle::policy::policy reads(const std::string& name_space, const std::string& name, std::size_t columns,
                               std::string created = {}) {
  binnacle::policy::policy p;
  p.key = {name_space, name};
  p.created = std::move(created);
  p.strategies.push_back({});
  for (std::size_t i = 0; i < columns; ++i) {
    rule r;
    r.metric = fmt::format("{}_{}_{}", name_space, name, i);
    p.strategies[0].rules.push_back(std::move(r));
  }
  p.revision = columns;
  return p;
}

/// Limits on the number of columns only. They do not depend on the size of the fleet.
cost_limits columns(std::uint64_t all, unsigned policy_percent = 100, unsigned namespace_percent = 100) {
  cost_limits out;
  out.columns = all;
  out.policy_percent = policy_percent;
  out.namespace_percent = namespace_percent;
  return out;
}

struct chooser {
  explicit chooser(cost_limits limits) : chosen(limits) {}
  void choose(const std::vector<binnacle::policy::policy>& wanted, std::size_t nodes = 10) {
    chosen.choose(wanted, nodes, metrics::alias_table::built_in());
  }
  /// The policies in force, each with its number of columns: "a/x 3, b/y 1".
  std::string in_force() const {
    std::string out;
    for (const auto& p : chosen.in_force())
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", p.key.text(), p.strategies[0].rules.size());
    return out;
  }
  std::string why(const std::string& key) const {
    for (const too_costly& t : chosen.refused()) {
      if (t.policy.text() == key) return t.message;
    }
    return {};
  }
  affordable chosen;
};

TEST_SUITE("aggregator/policy/affordable") {
  TEST_CASE("what is within the limits is in force, and nothing is said") {
    chooser c(columns(10));
    c.choose({reads("a", "x", 4), reads("b", "y", 6)});
    CHECK(c.in_force() == "a/x 4, b/y 6");
    CHECK(c.chosen.refused().empty());
    const cost_report all = c.chosen.report();
    CHECK(all.all.columns == 10);
    REQUIRE(all.policies.size() == 2);
    CHECK(all.policies[1].takes.columns == 6);
  }

  TEST_CASE("a policy, a namespace and all of them have limits, each said with its figures and a remedy") {
    chooser c(columns(10, 50, 60));
    c.choose(
        {reads("a", "x", 6), reads("b", "1", 4), reads("b", "2", 3), reads("c", "1", 5), reads("d", "1", 2)});
    CHECK(c.in_force() == "b/1 4, c/1 5");
    CHECK(c.why("a/x") ==
          "the policy would take 6 columns, and one may take 5 columns; no version of it is in force: use "
          "fewer different metrics, windows and statistics");
    CHECK(c.why("b/2") ==
          "the policy would take 3 columns; the policies of namespace b would then take 7 columns, and may "
          "take 6 "
          "columns; no version of it is in force: use fewer different metrics, windows and statistics");
    CHECK(
        c.why("d/1").starts_with("the policy would take 2 columns; all policies would then take 11 columns, "
                                 "and may take 10 columns;"));
  }

  TEST_CASE("an edit that takes too much leaves the last good version in force") {
    chooser c(columns(10, 50));
    c.choose({reads("a", "x", 4)});
    c.choose({reads("a", "x", 6)});
    CHECK(c.in_force() == "a/x 4");
    REQUIRE(c.chosen.refused().size() == 1);
    CHECK(c.chosen.refused()[0].last_version_stays);
    CHECK(c.why("a/x").find("its last good version stays in force") != std::string::npos);
    c.choose({reads("a", "x", 5)});
    CHECK(c.in_force() == "a/x 5");
    CHECK(c.chosen.refused().empty());
    c.choose({});
    CHECK(c.in_force().empty());
  }

  TEST_CASE("an edit has the room that its last version gives back, and no more") {
    chooser c(columns(10));
    c.choose({reads("a", "x", 5), reads("b", "y", 5)});
    c.choose({reads("a", "x", 4), reads("b", "y", 6)});
    CHECK(c.in_force() == "a/x 4, b/y 6");
    c.choose({reads("a", "x", 5), reads("b", "y", 6)});
    CHECK(c.in_force() == "a/x 4, b/y 6");
  }

  TEST_CASE("a policy in force is not pushed out by a new one, however old the new one's object is") {
    chooser c(columns(10));
    c.choose({reads("z", "z", 8, "2026-05-01T00:00:00Z")});
    c.choose({reads("a", "a", 8, "2020-01-01T00:00:00Z"), reads("z", "z", 8, "2026-05-01T00:00:00Z")});
    CHECK(c.in_force() == "z/z 8");
  }

  TEST_CASE("after a start the oldest object comes first, then the key: the same on every replica") {
    const std::vector<binnacle::policy::policy> wanted{reads("a", "a", 8, "2026-05-01T00:00:00Z"),
                                                       reads("z", "z", 8, "2020-01-01T00:00:00Z")};
    chooser c(columns(10));
    c.choose(wanted);
    CHECK(c.in_force() == "z/z 8");
    chooser files(columns(10));
    files.choose({reads("b", "b", 8), reads("a", "z", 8)});
    CHECK(files.in_force() == "a/z 8");
  }

  TEST_CASE(
      "a fleet that outgrows the limits puts the youngest out of force, and one that shrinks lets it in") {
    const auto old = reads("a", "old", 1, "2020-01-01T00:00:00Z"),
               young = reads("b", "young", 1, "2026-01-01T00:00:00Z");
    const auto bytes = price(old, metrics::alias_table::built_in()).total().node_bytes;
    cost_limits limits = columns(10);
    limits.memory_bytes = bytes * 2 * 1000;
    chooser c(limits);
    CHECK_MESSAGE(!c.chosen.outdated(100'000), "nothing has been chosen yet");
    c.choose({old, young}, 1000);
    CHECK(c.in_force() == "a/old 1, b/young 1");
    CHECK_FALSE(c.chosen.outdated(1000));
    CHECK_FALSE(c.chosen.outdated(1));
    CHECK(c.chosen.outdated(1001));
    c.choose({old, young}, 1001);
    CHECK(c.in_force() == "a/old 1");
    CHECK(c.why("b/young").find("at 1001 nodes; all policies would then take") != std::string::npos);
    CHECK_MESSAGE(!c.chosen.outdated(950), "a tenth less, so that nothing goes to and fro");
    CHECK(c.chosen.outdated(900));
    c.choose({old, young}, 900);
    CHECK(c.in_force() == "a/old 1, b/young 1");
  }

  TEST_CASE("warnings begin at nine tenths of a limit") {
    chooser c(columns(10));
    c.choose({reads("a", "x", 8)});
    CHECK(cost_warnings(c.chosen.report()).empty());
    c.choose({reads("a", "x", 9)});
    REQUIRE(cost_warnings(c.chosen.report()).size() == 1);
    CHECK(cost_warnings(c.chosen.report())[0] ==
          "policies take 9 columns and may take 10 columns: what is more is not in force; remove some, or "
          "raise "
          "policy-columns");
  }

  TEST_CASE("a process that goes on from what was in force chooses as one that was there all the time") {
    const std::vector<binnacle::policy::policy> then{reads("a", "old", 4, "2020"),
                                                     reads("b", "young", 6, "2026")};
    const std::vector<binnacle::policy::policy> now{
        reads("a", "old", 9, "2020"), reads("b", "young", 6, "2026"), reads("c", "new", 2, "2019")};
    chooser whole(columns(10)), again(columns(10)), fresh(columns(10));
    whole.choose(then);
    again.chosen.recall(whole.chosen.in_force());
    for (chooser* c : {&whole, &again, &fresh}) c->choose(now);
    CHECK(whole.in_force() == "a/old 4, b/young 6");
    CHECK(again.in_force() == whole.in_force());
    CHECK(again.why("a/old") == whole.why("a/old"));
    CHECK(again.why("c/new") == whole.why("c/new"));
    CHECK_MESSAGE(fresh.in_force() == "b/young 6, c/new 2", "by age alone another choice");
  }

  TEST_CASE("an object that was deleted and made again does not keep the version of the one before it") {
    const auto with_uid = [](std::size_t count, const char* uid) {
      auto p = reads("a", "x", count);
      p.uid = uid;
      return p;
    };
    chooser c(columns(10));
    c.choose({with_uid(4, "one")});
    c.choose({with_uid(11, "one")});
    CHECK(c.in_force() == "a/x 4");
    c.choose({with_uid(11, "two")});
    CHECK(c.in_force().empty());
  }

  TEST_CASE("the room that an edit gives back is used at once, also by an older policy") {
    chooser c(columns(10));
    c.choose({reads("b", "y", 9, "2026")});
    c.choose({reads("a", "x", 5, "2020"), reads("b", "y", 5, "2026")});
    CHECK(c.in_force() == "a/x 5, b/y 5");
    CHECK(c.chosen.refused().empty());
  }

  TEST_CASE("a chain of edits of which each makes room for an older one is followed only so far at once") {
    // Its number is its age, and the room that it needs: an odd one's of columns, an even one's of label
    // keys. The youngest one needs none. Each gives back one more of the other kind than it needs.
    const auto edited = [](std::size_t number, bool after) {
      const std::size_t columns = 1 + (number % 2 == 1 ? (after ? number : 0) : (after ? 0 : number + 1));
      const std::size_t keys = number % 2 == 1 ? (after ? 0 : number + 1) : (after ? number : 0);
      auto p = reads("a", fmt::format("p{:02}", number), columns, fmt::format("{}", 2090 - number));
      p.revision = after ? 2 : 1;
      p.strategies[0].kind = strategy_kind::labeling;
      for (std::size_t i = 0; i < keys; ++i)
        p.strategies[0].rules[0].labels.emplace_back(fmt::format("k{}", i), "v");
      return p;
    };
    std::vector<binnacle::policy::policy> before, after;
    bill all;
    constexpr std::size_t number = 14;
    for (std::size_t i = 0; i < number; ++i) {
      before.push_back(edited(i, false));
      after.push_back(edited(i, true));
      all.add(price(before.back(), metrics::alias_table::built_in()));
    }
    cost_limits limits = columns(all.total().columns);
    limits.label_keys = all.total().label_keys;
    chooser c(limits);
    c.choose(before);
    CHECK(c.chosen.refused().empty());
    c.choose(after);
    CHECK(c.chosen.refused().size() == number - 8);
    for (const auto& t : c.chosen.refused()) CHECK(t.last_version_stays);
    c.choose(after);
    CHECK_MESSAGE(c.chosen.refused().empty(), "the next choice goes on");
  }

  TEST_CASE("rules have a limit of their own, whatever they read") {
    const auto with_rules = [](const std::string& name, std::size_t rules) {
      auto p = reads("a", name, 1);
      p.strategies[0].rules.resize(rules, p.strategies[0].rules[0]);
      return p;
    };
    cost_limits limits;
    limits.rules = 20;
    chooser c(limits);
    c.choose({with_rules("large", 11), with_rules("small", 10), with_rules("third", 6)});
    CHECK(c.in_force() == "a/small 10");
    CHECK(c.why("a/large").starts_with("the policy would take 11 rules, and one may take 10 rules"));
    CHECK(
        c.why("a/third").starts_with("the policy would take 6 rules; the policies of namespace a would then "
                                     "take 16 rules, and may take 15"));
  }

  TEST_CASE("what was in force earlier and is not wanted any more takes no room") {
    chooser c(columns(10));
    c.chosen.recall({reads("a", "gone", 8)});
    c.choose({reads("b", "y", 9)});
    CHECK(c.in_force() == "b/y 9");
  }

  TEST_CASE("amounts are said in units that people read") {
    CHECK(amount_text(resource::memory, 3ull << 30) == "3.0 GiB");
    CHECK(amount_text(resource::memory, 1536 * 1024) == "1.5 MiB");
    CHECK(amount_text(resource::label_keys, 1) == "1 label key");
    CHECK(amount_text(resource::rules, 20) == "20 rules");
    CHECK(amount_text(resource::evaluations, 4'000) == "4000 evaluations a second");
    CHECK(amount_text(resource::evaluations, 12'340'000) == "12.3 million evaluations a second");
  }

  TEST_CASE("a share of a limit does not overflow") {
    cost_limits limits;
    limits.memory_bytes = std::uint64_t{1} << 50;
    limits.policy_percent = 50;
    CHECK(limits.of(resource::memory, scope::policy) == std::uint64_t{1} << 49);
    limits.columns = 7;
    CHECK(limits.of(resource::columns, scope::policy) == 3);
    CHECK(limits.of(resource::columns, scope::all) == 7);
  }
}

}  // namespace
}  // namespace affordable_test
