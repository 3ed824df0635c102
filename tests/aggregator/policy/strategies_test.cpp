#include "aggregator/policy/strategies.hpp"

#include "tests/aggregator/policy/text/recipe.hpp"

#include <doctest/doctest.h>

#include <set>

namespace strategies_test {

using namespace binnacle::policy;
using binnacle::policy::test::all;
using binnacle::policy::test::read;
using binnacle::policy::test::recipe;

/// A manifest with one rule, or none if the strategy has none.
recipe manifest_of(const strategy_description& s) {
  recipe r{.kind = std::string(s.name)};
  if (s.has_power_terms) r.rule.clear();
  return r;
}

TEST_SUITE("aggregator/policy/strategies") {
  TEST_CASE("every kind has a description of its own, and a manifest that names it is read as that kind") {
    std::set<std::string_view> names;
    for (const strategy_description* s : strategies()) {
      CAPTURE(s->name);
      CHECK(&description_of(s->kind) == s);
      CHECK(to_string(s->kind) == s->name);
      CHECK(names.insert(s->name).second);
      const auto t = read(manifest_of(*s).text());
      REQUIRE(t.policies.size() == 1);
      CHECK(t.policies[0].value.find(s->kind) != nullptr);
    }
  }

  TEST_CASE("who yields labels has their form, and nobody else; who is judged by the engine compares") {
    for (const strategy_description* s : strategies()) {
      CAPTURE(s->name);
      CHECK((s->yields == yield::labels) == (s->labels != label_form::none));
      if (s->judged_by_engine()) CHECK(s->compares);
    }
  }

  TEST_CASE("who yields scores says from what they are worked out, and nobody else does") {
    for (const strategy_description* s : strategies()) {
      CAPTURE(s->name);
      CHECK((s->yields == yield::scores) == (s->scores_from != score_source::none));
    }
  }

  TEST_CASE("onMissing belongs to strategies with a default for it, limits to those that yield labels") {
    for (const strategy_description* s : strategies()) {
      const auto refused = [&](std::string_view field) {
        recipe r = manifest_of(*s);
        r.strategy = field;
        return all(read(r.text()).problems).find("error") != std::string::npos;
      };
      CAPTURE(s->name);
      CHECK(refused("onMissing: Reject") == !s->on_missing.has_value());
      CHECK(refused("maxNodes: 3") == (s->yields != yield::labels));
      CHECK(refused("coolDown: 3s") == (s->yields != yield::labels));
    }
  }

  TEST_CASE("messages name those that yield something") {
    CHECK(names_of(yield::refusals) == "dontschedule");
    CHECK(names_of(yield::labels) == "deschedule and labeling");
    CHECK(names_of(yield::labels, "or") == "deschedule or labeling");
  }
}

}  // namespace strategies_test
