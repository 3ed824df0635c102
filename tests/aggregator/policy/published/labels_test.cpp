#include "aggregator/policy/published/labels.hpp"

#include "aggregator/policy/published/label_list.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace published_labels_test {

using namespace binnacle::policy;

namespace {

using action = label_wish::action;

label_wish merged(label_wish first, label_wish second) {
  label_wishes all;
  merge(all, "k", std::move(first));
  merge(all, "k", std::move(second));
  return all.at("k");
}

TEST_SUITE("aggregator/policy/published/labels") {
  TEST_CASE("of two wishes for one label the stronger holds, in whichever order they come") {
    const std::vector<label_wish> by_strength{
        {action::remove, ""}, {action::keep, ""}, {action::blocked, ""}, {action::set, "violating"}};
    for (std::size_t i = 0; i < by_strength.size(); ++i) {
      for (std::size_t j = 0; j < by_strength.size(); ++j) {
        CAPTURE(i);
        CAPTURE(j);
        CHECK(merged(by_strength[i], by_strength[j]) == by_strength[std::max(i, j)]);
      }
    }
  }

  TEST_CASE("of two values for one label the first stays") {
    CHECK(merged({action::set, "a"}, {action::set, "b"}).value == "a");
  }

  TEST_CASE("a claim covers the keys of policies in force, and every key of a policy that is wrong in part") {
    label_claims claims;
    claims.keys = {"hot"};
    claims.unread = {"odd"};
    CHECK(claims.covers("hot"));
    CHECK(claims.covers("odd"));
    CHECK(claims.covers("telemetry.aware.scheduling.odd/zone"));
    CHECK_FALSE(claims.covers("telemetry.aware.scheduling.hot/zone"));
    CHECK_FALSE(claims.covers("cold"));
  }

  TEST_CASE("a policy's labels are listed with the nodes that carry them, the first of them by name") {
    const std::map<std::string, std::string> violating{{"hot", "violating"}, {"cold", "violating"}};
    label_lister list("hot", 2);
    list.add("n1", violating);
    list.add("n2", {{"telemetry.aware.scheduling.hot/zone", "a"}});
    list.add("n3", violating);
    list.add("n4", violating);
    const auto found = list.take();
    REQUIRE(found.size() == 2);
    CHECK(found[0].label == "hot=violating");
    CHECK(found[0].count == 3);
    CHECK(found[0].nodes == std::vector<std::string>{"n1", "n3"});
    CHECK(found[1].label == "telemetry.aware.scheduling.hot/zone=a");
    CHECK(found[1].count == 1);
    CHECK(list.take().empty());
  }
}

}  // namespace

}  // namespace published_labels_test
