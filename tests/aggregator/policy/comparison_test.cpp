#include "aggregator/policy/comparison.hpp"

#include <doctest/doctest.h>

#include <string_view>

namespace comparison_test {

using namespace binnacle::policy;
using enum comparison;

TEST_SUITE("aggregator/policy/comparison") {
  TEST_CASE("each operator: below, at and above its target; how a person writes it; what clears it") {
    struct row {
      comparison op;
      std::string_view name, sign;
      bool below, at, above;
      std::string_view key, side;
    };
    for (const row& r :
         {row{less_than, "LessThan", "<", true, false, false, "clearAbove", "above"},
          row{less_or_equal, "LessOrEqual", "<=", true, true, false, "clearAbove", "above"},
          row{equals, "Equals", "=", false, true, false, "", ""},
          row{greater_or_equal, "GreaterOrEqual", ">=", false, true, true, "clearBelow", "below"},
          row{greater_than, "GreaterThan", ">", false, false, true, "clearBelow", "below"}}) {
      CAPTURE(r.name);
      CHECK(to_string(r.op) == r.name);
      CHECK(comparison_of(r.name) == r.op);
      CHECK(sign(r.op) == r.sign);
      CHECK(meets(r.op, std::strong_ordering::less) == r.below);
      CHECK(meets(r.op, std::strong_ordering::equal) == r.at);
      CHECK(meets(r.op, std::strong_ordering::greater) == r.above);
      CHECK(clearing_key(r.op) == r.key);
      CHECK(clearing_side(r.op) == r.side);
    }
    CHECK_FALSE(comparison_of("greaterthan"));
    CHECK_FALSE(comparison_of(""));
  }

  TEST_CASE("a threshold of its own is passed strictly, whether the operator takes its target or not") {
    for (const comparison op : {greater_than, greater_or_equal}) {
      CHECK(past_clearing(op, std::strong_ordering::less));
      CHECK_FALSE(past_clearing(op, std::strong_ordering::equal));
      CHECK_FALSE(past_clearing(op, std::strong_ordering::greater));
    }
    for (const comparison op : {less_than, less_or_equal}) {
      CHECK(past_clearing(op, std::strong_ordering::greater));
      CHECK_FALSE(past_clearing(op, std::strong_ordering::equal));
      CHECK_FALSE(past_clearing(op, std::strong_ordering::less));
    }
  }
}

}  // namespace comparison_test
