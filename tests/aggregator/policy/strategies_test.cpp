#include "aggregator/policy/strategies.hpp"

#include "tests/aggregator/policy/text/recipe.hpp"

#include <doctest/doctest.h>

#include <set>

namespace strategies_test {

using namespace binnacle::policy;
using binnacle::policy::test::all;
using binnacle::policy::test::read;
using binnacle::policy::test::recipe;

TEST_SUITE("aggregator/policy/strategies") {
  TEST_CASE("every kind has a description of its own, and a manifest that names it is read as that kind") {
    std::set<std::string_view> names;
    for (const strategy_description* s : strategies()) {
      CAPTURE(s->name);
      CHECK(&description_of(s->kind) == s);
      CHECK(to_string(s->kind) == s->name);
      CHECK(names.insert(s->name).second);
      const auto t = read(recipe{.kind = std::string(s->name)}.text());
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

  TEST_CASE("fields belong to what a strategy yields: onMissing to refusals, limits to labels") {
    for (const strategy_description* s : strategies()) {
      const auto refused = [&](std::string_view field) {
        const recipe r{.kind = std::string(s->name), .strategy = std::string(field)};
        return all(read(r.text()).problems).find("error") != std::string::npos;
      };
      CAPTURE(s->name);
      CHECK(refused("onMissing: Reject") == (s->yields != yield::refusals));
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
