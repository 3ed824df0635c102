#include "aggregator/decision/difference.hpp"
#include "aggregator/decision/explain.hpp"
#include "common/text/plain.hpp"
#include "tests/aggregator/decision/sample_record.hpp"

#include <doctest/doctest.h>

namespace sentence_test {

using namespace binnacle;
using namespace binnacle::decision;
using namespace binnacle::test;

namespace {

std::string said(candidate_outcome what, cell c, std::shared_ptr<const policy_facts> facts,
                 policy::mode how = policy::mode::enforce) {
  record r = power_record();
  auto copy = std::make_shared<policy_facts>(*facts);
  copy->how = how;
  r.policy = std::move(copy);
  add(r, {store::node_id(1), what, 7, 0}, {c});
  return sentence(r, 0, "node-b");
}

}  // namespace

TEST_SUITE("aggregator/decision/sentence") {
  TEST_CASE("a refusal says rule, value, target, margin and age") {
    CHECK(said(candidate_outcome::refused, seen(714), power_facts()) ==
          "node-b refused: rapl_power_watts 71.4 > 60 (11.4 over), read 180ms ago");
    CHECK(said(candidate_outcome::refused, seen(105, 0, 12'345),
               power_facts(policy::comparison::less_than, 200)) ==
          "node-b refused: rapl_power_watts 105 < 200 (95 under), read 12.3s ago");
    CHECK(said(candidate_outcome::refused, seen(2, 0, 5), power_facts(policy::comparison::equals, 2)) ==
          "node-b refused: rapl_power_watts 2 = 2, read 5ms ago");
    CHECK(said(candidate_outcome::refused, seen(60, 0), power_facts(policy::comparison::greater_or_equal)) ==
          "node-b refused: rapl_power_watts 60 >= 60, read 180ms ago");
    CHECK(said(candidate_outcome::refused, seen(61, 0), power_facts(policy::comparison::greater_or_equal)) ==
          "node-b refused: rapl_power_watts 61 >= 60 (1 over), read 180ms ago");
    CHECK(said(candidate_outcome::refused, seen(714), power_facts(), policy::mode::dry_run) ==
          "node-b would be refused: rapl_power_watts 71.4 > 60 (11.4 over), read 180ms ago");
  }

  TEST_CASE("a number has no zeros that say nothing, whatever its series' resolution") {
    CHECK(said(candidate_outcome::refused, seen(80'000, -3), power_facts()) ==
          "node-b refused: rapl_power_watts 80 > 60 (20 over), read 180ms ago");
    CHECK(said(candidate_outcome::scored, seen(1'500'000'000, -9), power_facts()) ==
          "node-b scores 7: rapl_power_watts 1.5, read 180ms ago");
  }

  TEST_CASE("a pass says how far the value is from the target") {
    CHECK(said(candidate_outcome::passed, seen(412), power_facts()) ==
          "node-b passes: rapl_power_watts 41.2 (18.8 below the target 60), read 180ms ago");
    CHECK(said(candidate_outcome::passed, seen(60, 0), power_facts()) ==
          "node-b passes: rapl_power_watts 60 (at the target 60), read 180ms ago");
    CHECK(said(candidate_outcome::passed, absent(absence::permission), power_facts()) ==
          "node-b passes: rapl_power_watts has no value (permission)");
    cell partial = seen(412);
    partial.partial = true;
    CHECK(said(candidate_outcome::passed, partial, power_facts()) ==
          "node-b passes: rapl_power_watts 41.2 (18.8 below the target 60), read 180ms ago (partial: not "
          "all sensors answered)");
    cell filling = seen(412);
    filling.unknown_percent = 62;
    CHECK(said(candidate_outcome::passed, filling, power_facts()) ==
          "node-b passes: rapl_power_watts 41.2 (18.8 below the target 60), read 180ms ago (partial: values "
          "for 38 % "
          "of the window)");
    CHECK(said(candidate_outcome::scored, filling, power_facts())
              .ends_with("(partial: values for 38 % of the window)"));
    filling.unknown_percent = 20;
    CHECK(said(candidate_outcome::passed, filling, power_facts()).ends_with("read 180ms ago"));
    CHECK(said(candidate_outcome::refused_missing, partial, power_facts())
              .ends_with("rapl_power_watts 41.2 (18.8 below the target 60), read 180ms ago (partial: not all "
                         "sensors answered)"));
  }

  TEST_CASE("a value that contradicts the verdict is explained by what keeps it") {
    auto facts = power_facts();
    facts->rules[0].clear = from_integer(55);
    CHECK(said(candidate_outcome::refused, seen(580), facts) ==
          "node-b refused: rapl_power_watts 58 was > 60 and clears only below 55, read 180ms ago");
    facts = power_facts();
    CHECK(said(candidate_outcome::refused, seen(580), facts) ==
          "node-b refused: rapl_power_watts was > 60 and has just become 58, read 180ms ago");
    CHECK(said(candidate_outcome::refused, absent(absence::stale), facts) ==
          "node-b refused: rapl_power_watts was > 60 and now has no value (stale)");
    facts->rules[0].hold = std::chrono::seconds(30);
    CHECK(said(candidate_outcome::passed, seen(714), facts) ==
          "node-b passes: rapl_power_watts 71.4 > 60 but not yet for 30s, read 180ms ago");
  }

  TEST_CASE("onMissing: Reject, unknown nodes and scores have their own words") {
    CHECK(said(candidate_outcome::refused_missing, absent(absence::timeout), power_facts()) ==
          "node-b refused (onMissing: Reject): rapl_power_watts has no value (timeout)");
    CHECK(said(candidate_outcome::scored, seen(412), power_facts()) ==
          "node-b scores 7: rapl_power_watts 41.2, read 180ms ago");
    CHECK(said(candidate_outcome::unscored, absent(absence::stale), power_facts()) ==
          "node-b scores 7: rapl_power_watts has no value (stale)");
    cell maximum = seen(412);
    maximum.partial = true;
    maximum.sure = store::certainty::at_least;
    CHECK(
        said(candidate_outcome::unscored, maximum, power_facts()) ==
        "node-b scores 7: rapl_power_watts is 41.2 at least (partial: not all sensors answered), read 180ms "
        "ago");
    record r = power_record();
    add(r, {no_node, candidate_outcome::unknown, 0, 0}, {cell{}});
    add(r, {no_node, candidate_outcome::refused_missing, 0, 0}, {cell{}});
    add(r, {no_node, candidate_outcome::unscored, 0, 0}, {cell{}});
    CHECK(sentence(r, 0, "x") == "x passes: no agent of that name has been seen");
    CHECK(sentence(r, 1, "x") == "x refused (onMissing: Reject): no agent of that name has been seen");
    CHECK(sentence(r, 2, "x") == "x scores 0: no agent of that name has been seen");
  }

  TEST_CASE("allOf names every rule") {
    auto facts = power_facts();
    facts->op = policy::logic::all_of;
    facts->rules.push_back(
        {"free_ram LessThan 200", "free_ram", policy::comparison::less_than, from_integer(200), {}, {}});
    record r = power_record();
    r.policy = facts;
    add(r, {store::node_id(1), candidate_outcome::refused, 0, 0}, {seen(714), seen(100, 0)});
    CHECK(sentence(r, 0, "node-b") ==
          "node-b refused: rapl_power_watts 71.4 > 60 (11.4 over), read 180ms ago; free_ram 100 < 200 (100 "
          "under), read 180ms ago");
  }

  TEST_CASE("differences are exact and give up beyond 128 bits") {
    const auto text = [](decimal v, std::int64_t target) {
      const auto d = difference(v, from_integer(target));
      return d ? plain(*d) : "none";
    };
    CHECK(text({714, -1}, 60) == "11.4");
    CHECK(text({1, -9}, 0) == "0.000000001");
    CHECK(text({-15, -10}, 0) == "-0.000000002");
    CHECK(text({INT64_MAX, 9}, 0) == "9223372036854775807000000000");
    CHECK(text({1, 10}, 0) == "none");
    CHECK(text({INT64_MIN, 0}, INT64_MAX) == "-18446744073709551615");
  }
}

}  // namespace sentence_test
