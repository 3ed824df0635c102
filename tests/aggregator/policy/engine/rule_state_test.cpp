#include "aggregator/policy/engine/rule_state.hpp"

#include <doctest/doctest.h>

namespace rule_state_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace std::chrono_literals;

namespace {

constexpr instant start{1h};

rule over_80() { return {.metric = "temp", .op = comparison::greater_than, .target = from_integer(80)}; }

store::sample value(std::int64_t v, duration t = 0s, store::certainty sure = store::certainty::exact) {
  return {.value = {v, 0},
          .read_at = start + t,
          .expires_at = start + t + 10s,
          .reason = absence::none,
          .partial = sure != store::certainty::exact,
          .sure = sure};
}

}  // namespace

TEST_SUITE("aggregator/policy/engine/rule_state") {
  TEST_CASE("`for` counts read times: true for all of it, and one value that is not begins it anew") {
    rule r = over_80();
    r.hold = 3s;
    rule_state s;
    observe(s, r, value(90, 0s));
    observe(s, r, value(90, 2s));
    CHECK(s.pending);
    CHECK_FALSE(s.on);
    observe(s, r, value(80, 3s));
    CHECK_FALSE(s.pending);
    observe(s, r, value(90, 4s));
    observe(s, r, value(90, 7s));
    CHECK(s.on);
    CHECK_MESSAGE(s.explains, "values turned it on");
  }

  TEST_CASE("the same sample seen again changes nothing") {
    rule r = over_80();
    r.hold = 1s;
    rule_state s;
    observe(s, r, value(90));
    const rule_state once = s;
    observe(s, r, value(90));
    CHECK(s.pending == once.pending);
    CHECK(s.true_since == once.true_since);
    CHECK_FALSE(s.on);
  }

  TEST_CASE("inside the band between target and clearBelow nothing changes, from either side") {
    rule r = over_80();
    r.clear = from_integer(70);
    rule_state s;
    observe(s, r, value(75));
    CHECK_FALSE(s.on);
    CHECK_MESSAGE(!s.settled, "in the band a label that is there still counts");
    observe(s, r, value(81));
    CHECK(s.on);
    observe(s, r, value(75));
    observe(s, r, value(70));
    CHECK(s.on);
    observe(s, r, value(69));
    CHECK_FALSE(s.on);
    CHECK(s.settled);
  }

  TEST_CASE("a value that is lost: labels keep what was, a verdict for placing does not") {
    rule_state frozen;
    observe(frozen, over_80(), value(90));
    rule_state open = frozen;
    lose(frozen, true);
    lose(open, false);
    CHECK(frozen.on);
    CHECK_FALSE(open.on);
    CHECK_FALSE(frozen.known);
    CHECK(frozen.ever_known);
  }

  TEST_CASE("what is recalled waits for the node's agent: before it has come an absence takes nothing") {
    rule r = over_80();
    r.hold = 5s;
    rule_state on{.on = true, .recalled = true};
    rule_state pending;
    observe(pending, r, value(90));
    pending.recalled = true;
    for (rule_state* s : {&on, &pending}) lose(*s, false);
    CHECK(on.on);
    CHECK(pending.pending);
    CHECK_FALSE(pending.known);
    rule_state late = pending;
    for (rule_state* s : {&on, &pending}) go_on(*s, longest_unseen);
    go_on(late, longest_unseen + 1s);
    CHECK(pending.pending);
    CHECK_FALSE_MESSAGE(late.pending, "nobody knows what was true meanwhile");
    for (rule_state* s : {&on, &pending}) lose(*s, false);
    CHECK_FALSE(on.on);
    CHECK_FALSE(pending.pending);
  }

  TEST_CASE("a label that is there decides until values have") {
    rule_state s;
    CHECK(inherit(s));
    CHECK(s.on);
    CHECK_FALSE_MESSAGE(inherit(s), "it is on already");
    observe(s, over_80(), value(50));
    CHECK_FALSE(s.on);
    CHECK_FALSE_MESSAGE(inherit(s), "a value has decided");
  }

  TEST_CASE("what never came is given up; what is on its way is not") {
    rule_state never, on_its_way;
    inherit(never);
    CHECK(give_up(never));
    CHECK_FALSE(never.on);
    CHECK_FALSE_MESSAGE(give_up(never), "once");
    inherit(on_its_way);
    fill(on_its_way);
    CHECK_FALSE(give_up(on_its_way));
    CHECK(on_its_way.on);
    CHECK_FALSE(on_its_way.known);
    lose(on_its_way, true);
    CHECK_MESSAGE(give_up(on_its_way), "nothing comes any more");
  }

  TEST_CASE("a window that empties freezes the rule as an absence does, and its first whole value decides") {
    rule_state s;
    observe(s, over_80(), value(90));
    fill(s);
    CHECK(s.on);
    CHECK_FALSE(s.known);
    CHECK(s.ever_known);
    observe(s, over_80(), value(50));
    CHECK_FALSE(s.on);
    CHECK_FALSE(s.filling);
  }

  TEST_CASE("a partial value decides only what the missing members could not reverse") {
    struct row {
      comparison op;
      bool on;
      std::int64_t value;
      store::certainty sure;
      bool decides;
    };
    using enum comparison;
    using enum store::certainty;
    for (const row& r :
         {row{greater_than, false, 81, at_least, true}, row{greater_than, false, 79, at_least, false},
          row{greater_than, true, 79, at_least, false}, row{greater_than, false, 79, at_most, true},
          row{greater_or_equal, false, 80, at_least, true}, row{greater_or_equal, true, 79, at_least, false},
          row{less_than, false, 79, at_most, true}, row{less_than, false, 81, at_most, false},
          row{less_or_equal, false, 80, at_most, true}, row{less_or_equal, true, 80, at_least, false},
          row{equals, false, 81, at_least, true}, row{equals, false, 79, at_least, false},
          row{equals, true, 80, at_least, false}, row{greater_than, false, 90, unsure, false}}) {
      CAPTURE(to_string(r.op));
      CAPTURE(r.value);
      CAPTURE(r.on);
      rule about = over_80();
      about.op = r.op;
      rule_state s;
      s.on = r.on;
      CHECK(decides(s, about, value(r.value, 0s, r.sure)) == r.decides);
    }
  }

  TEST_CASE("an edit: the same comparison goes on whole; another target or operator decides anew") {
    rule r = over_80();
    r.hold = 5s;
    rule_state s;
    observe(s, r, value(90));
    CHECK(carried_over(r, r, s).pending);
    rule lower = r;
    lower.target = from_integer(70);
    CHECK_FALSE(carried_over(lower, r, s).pending);
    rule with_target = r;
    with_target.op = comparison::greater_or_equal;
    CHECK_FALSE(carried_over(with_target, r, s).pending);
    s.on = true;
    CHECK_MESSAGE(carried_over(with_target, r, s).on, "the label stays until the new rule clears it");
  }
}

}  // namespace rule_state_test
