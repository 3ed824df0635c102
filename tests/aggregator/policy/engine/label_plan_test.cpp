#include "aggregator/policy/engine/label_plan.hpp"

#include "aggregator/policy/label_keys.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace label_plan_test {

using namespace binnacle;
using namespace binnacle::policy;

namespace {

using labels = std::vector<std::pair<std::string, std::string>>;

rule gives(labels l, comparison op = comparison::greater_than) {
  rule r{.metric = "m", .op = op};
  r.labels = std::move(l);
  return r;
}
strategy of(std::vector<rule> rules) { return {.kind = strategy_kind::labeling, .rules = std::move(rules)}; }
rule_state is_on(bool on) { return {.on = on, .known = true, .ever_known = true}; }

/// Which rule wins each label key, given the rules that are true and their values.
struct contest {
  explicit contest(strategy s)
      : about(std::move(s)), plan(about), winners(plan.keys().size(), label_plan::none) {}
  bool resolve(const std::vector<bool>& on, const std::vector<std::optional<decimal>>& values,
               bool labelled = true) {
    std::vector<rule_state> states;
    for (const bool b : on) states.push_back(is_on(b));
    return plan.resolve(about, states, labelled, values, winners);
  }
  strategy about;
  label_plan plan;
  std::vector<std::uint16_t> winners;
};

}  // namespace

TEST_SUITE("aggregator/policy/engine/label_plan") {
  TEST_CASE("a label of one rule is that rule's; values are not needed") {
    contest c(of({gives({{"a", "1"}, {"b", "1"}}), gives({{"c", "1"}})}));
    CHECK_FALSE(c.plan.contested());
    CHECK(c.resolve({true, false}, {}));
    CHECK(c.winners == std::vector<std::uint16_t>{0, 0, label_plan::none});
    CHECK_FALSE_MESSAGE(c.resolve({true, false}, {}), "nothing is another");
    CHECK(c.resolve({true, true}, {}));
  }

  TEST_CASE("a node without a slot gets no label, whatever is true") {
    contest c(of({gives({{"a", "1"}})}));
    c.resolve({true}, {}, false);
    CHECK(c.winners == std::vector{label_plan::none});
  }

  TEST_CASE(
      "several true rules: the furthest in their direction, the first in a tie, and a loser keeps its "
      "others") {
    contest high(of({gives({{"a", "x"}, {"only", "x"}}), gives({{"a", "y"}}, comparison::greater_or_equal)}));
    CHECK(high.plan.contested());
    high.resolve({true, true}, {decimal{11, 0}, decimal{12, 0}});
    CHECK(high.winners == std::vector<std::uint16_t>{1, 0});
    high.resolve({true, true}, {decimal{12, 0}, decimal{12, 0}});
    CHECK(high.winners[0] == 0);
    contest low(
        of({gives({{"a", "x"}}, comparison::less_than), gives({{"a", "y"}}, comparison::less_or_equal)}));
    low.resolve({true, true}, {decimal{3, 0}, decimal{2, 0}});
    CHECK(low.winners[0] == 1);
  }

  TEST_CASE("while a contender's value is missing the winner stays; without one the first true rule has it") {
    contest c(of({gives({{"a", "x"}}), gives({{"a", "y"}})}));
    c.resolve({true, true}, {decimal{1, 0}, std::nullopt});
    CHECK(c.winners[0] == 0);
    c.resolve({true, true}, {decimal{1, 0}, decimal{2, 0}});
    CHECK(c.winners[0] == 1);
    c.resolve({true, true}, {decimal{9, 0}, std::nullopt});
    CHECK(c.winners[0] == 1);
    c.resolve({true, false}, {decimal{9, 0}, std::nullopt});
    CHECK(c.winners[0] == 0);
  }

  TEST_CASE(
      "true rules of opposite directions give no label at all, as in TAS; labels_at_odds names the label") {
    contest c(of({gives({{"a", "x"}, {"b", "x"}}), gives({{"a", "y"}}, comparison::less_than)}));
    CHECK(labels_at_odds(c.about) == std::vector<std::string>{"a"});
    c.resolve({true, true}, {decimal{1, 0}, decimal{1, 0}});
    CHECK(c.winners == std::vector{label_plan::none, label_plan::none});
    c.resolve({true, false}, {decimal{1, 0}, decimal{1, 0}});
    CHECK(c.winners == std::vector<std::uint16_t>{0, 0});
    CHECK(
        labels_at_odds(of({gives({{"a", "x"}}), gives({{"a", "y"}}, comparison::greater_or_equal)})).empty());
  }
}

}  // namespace label_plan_test
