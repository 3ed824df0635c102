#include "aggregator/policy/engine/judge.hpp"

#include "tests/aggregator/policy/world.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace judge_test {

using namespace binnacle::policy;

namespace {

// What one rule may know about a node.
rule_state on() { return {.on = true, .known = true, .ever_known = true}; }
rule_state off() { return {.on = false, .known = true, .ever_known = true}; }
rule_state was_on() { return {.on = true, .ever_known = true}; }
rule_state was_off() { return {.on = false, .ever_known = true}; }
rule_state never() { return {}; }
rule_state given_up() { return {.given_up = true}; }

using states = std::vector<rule_state>;

}  // namespace

TEST_SUITE("aggregator/policy/engine/judge") {
  TEST_CASE("dontschedule uses the rules that have a value; onMissing: Reject counts if the others matter") {
    struct row {
      logic op;
      states rules;
      bool rejects;
      state what;
    };
    for (const row& r : {row{logic::any_of, {off(), on()}, false, state::violating},
                         row{logic::any_of, {off(), off()}, true, state::pass},
                         row{logic::any_of, {on(), never()}, true, state::violating},
                         row{logic::any_of, {off(), never()}, false, state::pass},
                         row{logic::any_of, {off(), never()}, true, state::missing},
                         row{logic::all_of, {on(), on()}, true, state::violating},
                         row{logic::all_of, {on(), never()}, false, state::pass},
                         row{logic::all_of, {on(), never()}, true, state::missing},
                         row{logic::all_of, {off(), never()}, true, state::pass}}) {
      CAPTURE(to_string(r.op));
      CAPTURE(r.rejects);
      CHECK(judge_ignoring_missing(r.op, r.rules, r.rejects).found.what == r.what);
    }
  }

  TEST_CASE("a verdict names the first rule that decided, and counts those without a value") {
    const verdict v = judge_ignoring_missing(logic::any_of, states{off(), never(), on(), on()}, false).found;
    CHECK(v.rule == 2);
    CHECK(v.unknown == 1);
    CHECK(v.violating);
  }

  TEST_CASE("deschedule and labeling: missing data that matters freezes the verdict before it") {
    struct row {
      logic op;
      states rules;
      bool was_violating;
      state what;
      bool violating;
    };
    for (const row& r : {row{logic::any_of, {off(), was_off()}, false, state::frozen, false},
                         row{logic::any_of, {on(), was_off()}, false, state::violating, true},
                         row{logic::any_of, {off(), was_on()}, true, state::frozen, true},
                         row{logic::any_of, {off(), was_off()}, true, state::frozen, false},
                         row{logic::all_of, {on(), was_on()}, true, state::frozen, true},
                         row{logic::all_of, {off(), was_on()}, true, state::pass, false},
                         row{logic::all_of, {on(), was_off()}, true, state::frozen, false},
                         row{logic::all_of, {on(), was_on()}, false, state::frozen, false}}) {
      CAPTURE(to_string(r.op));
      CAPTURE(r.was_violating);
      const judgement j = judge_frozen(r.op, r.rules, r.was_violating);
      CHECK(j.found.what == r.what);
      CHECK(j.found.violating == r.violating);
    }
  }

  TEST_CASE(
      "before anything is known of a node it passes, and its labels are left alone; a rule given up is off") {
    judgement j = judge_frozen(logic::any_of, states{never(), never()}, false);
    CHECK(j.found.what == state::pass);
    CHECK(j.blind);
    j = judge_frozen(logic::any_of, states{off(), never()}, false);
    CHECK(j.found.what == state::pass);
    CHECK_MESSAGE(j.blind, "the other may still come");
    j = judge_frozen(logic::any_of, states{off(), given_up()}, false);
    CHECK(j.found.what == state::pass);
    CHECK_FALSE(j.blind);
  }
}

}  // namespace judge_test
