#include "aggregator/store/row.hpp"

#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

namespace binnacle::store {
namespace {

row row_of(const catalog_builder& c) {
  return row(std::make_shared<const shape>(make_shape(c, {}).value().what));
}

}  // namespace

TEST_SUITE("aggregator/store/row") {
  TEST_CASE("every one of ten thousand series of one family keeps its own value, wherever it stands then") {
    constexpr int many = 10'000;
    catalog_builder before;
    before.group("textfile");
    for (int i = 0; i < many; ++i) before.series("mine", {{"unit", std::to_string(i)}});
    catalog_builder after = before;
    std::reverse(after.made.series.begin(), after.made.series.end());
    after.made.series.pop_back();  // unit 0 is gone

    row old = row_of(before);
    for (std::size_t i = 0; i < many; ++i) old.set_value(i, static_cast<std::int64_t>(i));
    old.set_read(0, at_s(5));
    row fresh = row_of(after);
    fresh.carry_over(old, origins(fresh.series(), old.series()));
    CHECK(fresh.read_at(0) == at_s(5));
    for (std::size_t i = 0; i + 1 < many; ++i) {
      const auto cell = fresh.peek(i);
      if (cell.reason == absence::none && cell.mantissa == static_cast<std::int64_t>(many - 1 - i)) continue;
      FAIL("series " << i << " has " << cell.mantissa);
    }
  }

  TEST_CASE("a value does not move to a series of other labels, or of another source") {
    const auto of = [](const std::string& source, const metrics::label_set& labels) {
      return row_of(catalog_builder().group(source).series("mine", labels));
    };
    row old = of("textfile", {{"a", "1"}, {"b", "2"}});
    old.set_value(0, 7);
    const auto kept = [&](row fresh) {
      fresh.carry_over(old, origins(fresh.series(), old.series()));
      return fresh.peek(0).reason == absence::none;
    };
    CHECK(kept(of("textfile", {{"a", "1"}, {"b", "2"}})));
    CHECK_FALSE(kept(of("textfile", {{"a", "2"}, {"b", "1"}})));
    CHECK_FALSE(kept(of("textfile", {{"a", "1"}})));
    CHECK_FALSE(kept(of("scrape", {{"a", "1"}, {"b", "2"}})));
  }
}

}  // namespace binnacle::store
