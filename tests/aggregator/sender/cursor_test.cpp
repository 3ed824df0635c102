#include "aggregator/sender/cursor.hpp"

#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::sender {
namespace cursor_test {

using store::at_s;
using store::catalog_builder;

struct said {
  std::string what;  // "node family"
  double value;
  instant at;
};

std::shared_ptr<store::row> row_of(const catalog_builder& c) {
  return std::make_shared<store::row>(
      std::make_shared<const store::shape>(store::make_shape(c, {}).value().what));
}

catalog_builder two_families() {
  return catalog_builder().group("rapl").series("rapl_power_watts", {}, -1).series("os_load1", {}, -2);
}

struct bench {
  explicit bench(std::vector<std::string> families = {}, metrics::label_set target = {})
      : it(std::move(families), std::move(target)) {
    it.begin(at_s(0));
  }
  std::vector<said> take(const fleet& nodes, instant now) {
    std::vector<said> out;
    it.take(nodes, now, [&](const point& p) {
      out.push_back({p.node + " " + p.series.family, p.value, p.at});
    });
    return out;
  }
  cursor it;
};

bool ends(const said& s) { return std::isnan(s.value); }

}  // namespace cursor_test

TEST_SUITE("aggregator/sender/cursor") {
  using namespace cursor_test;

  TEST_CASE("if a node has a new object, its old series end and new ones begin") {
    bench b;
    std::vector<std::string> uids;
    const auto take = [&](const fleet& nodes, instant now) {
      std::vector<said> out;
      b.it.take(nodes, now, [&](const point& p) {
        out.push_back({p.node, p.value, p.at});
        uids.emplace_back(p.node_uid);
      });
      return out;
    };
    const auto row = row_of(two_families());
    row->set_value(0, 715);
    row->set_read(0, at_s(10));
    CHECK(take({{"a", row, "one"}}, at_s(11)).size() == 1);
    CHECK(take({{"a", row, "one"}}, at_s(12)).empty());
    const auto ended = take({{"a", row, "two"}}, at_s(13));
    REQUIRE(ended.size() == 1);
    CHECK(ends(ended[0]));
    row->set_read(0, at_s(14));
    CHECK(take({{"a", row, "two"}}, at_s(15)).size() == 1);
    CHECK(take({}, at_s(16)).size() == 1);  // the node is gone: the end goes to the same series
    CHECK(uids == std::vector<std::string>{"one", "one", "two", "two"});
  }

  TEST_CASE("each reading is told once, with the time at which it was read") {
    bench b;
    const auto row = row_of(two_families());
    row->set_value(0, 715);
    row->set_read(0, at_s(10));
    auto first = b.take({{"a", row}}, at_s(11));
    REQUIRE(first.size() == 1);  // the other series was never read
    CHECK(first[0].what == "a rapl_power_watts");
    CHECK(first[0].value == 71.5);
    CHECK(first[0].at == at_s(10));
    CHECK(b.take({{"a", row}}, at_s(12)).empty());
    row->set_read(0, at_s(13));  // the same value, read again
    CHECK(b.take({{"a", row}}, at_s(14)).size() == 1);
  }

  TEST_CASE("a series that expires ends once, and goes on with a newer reading") {
    bench b;
    const auto row = row_of(two_families());
    row->set_value(0, 715);
    row->set_read(0, at_s(10));
    b.take({{"a", row}}, at_s(11));
    const auto end = b.take({{"a", row}}, at_s(30));
    REQUIRE(end.size() == 1);
    CHECK(ends(end[0]));
    CHECK(end[0].at == at_s(30));
    CHECK(b.take({{"a", row}}, at_s(31)).empty());
    row->set_read(0, at_s(29));  // too late: the database has a newer end and would refuse this
    CHECK(b.take({{"a", row}}, at_s(31)).empty());
    row->set_read(0, at_s(32));
    CHECK(b.take({{"a", row}}, at_s(33)).size() == 1);
  }

  TEST_CASE("of two readings in one millisecond the first is told: a database refuses another value then") {
    bench b;
    const auto row = row_of(two_families());
    row->set_value(0, 715);
    row->set_read(0, at_s(10));
    CHECK(b.take({{"a", row}}, at_s(11)).size() == 1);
    row->set_value(0, 716);
    row->set_read(0, at_s(10) + std::chrono::nanoseconds(1));
    CHECK(b.take({{"a", row}}, at_s(12)).empty());
    row->set_read(0, at_s(10) + std::chrono::milliseconds(2));
    CHECK(b.take({{"a", row}}, at_s(13)).size() == 1);
  }

  TEST_CASE("the end of a series is later than its last reading, even if both are of one moment") {
    bench b;
    const auto row = row_of(two_families());
    row->set_value(0, 715);
    row->set_read(0, at_s(10));
    b.take({{"a", row}}, at_s(10));
    const auto end = b.take({}, at_s(10));
    REQUIRE(end.size() == 1);
    CHECK(ends(end[0]));
    CHECK(end[0].at >= at_s(10) + std::chrono::milliseconds(1));
  }

  TEST_CASE("of series that the database cannot tell apart the first is told, and the others are counted") {
    const auto row = row_of(catalog_builder()
                                .group("textfile")
                                .series("queue", {{"node", "x"}})
                                .series("queue", {{"exported_node", "x"}})
                                .series("queue", {{"node", "y"}})
                                .series("jobs", {{"kind", ""}})
                                .series("jobs")
                                .series("jobs", {{"kind", "b"}}));
    for (std::size_t i = 0; i < 6; ++i) row->set_value(i, static_cast<std::int64_t>(i));
    row->set_read(0, at_s(10));
    const auto values = [&](bench& b) {
      std::vector<double> out;
      for (const said& s : b.take({{"a", row}}, at_s(11))) out.push_back(s.value);
      return out;
    };
    bench remote_write({}, {{"node", ""}});
    CHECK(values(remote_write) == std::vector<double>{0, 2, 3, 5});
    CHECK(remote_write.it.left_out() == 2);
    bench otlp;  // adds no label of its own to a series, and renames none
    CHECK(values(otlp) == std::vector<double>{0, 1, 2, 3, 5});
    CHECK(otlp.it.left_out() == 1);
  }

  TEST_CASE("series of a node that is forgotten end") {
    bench b;
    const auto row = row_of(two_families());
    row->set_value(0, 715);
    row->set_read(0, at_s(10));
    b.take({{"a", row}}, at_s(11));
    const auto end = b.take({}, at_s(12));
    REQUIRE(end.size() == 1);
    CHECK(ends(end[0]));
    CHECK(b.take({}, at_s(13)).empty());
  }

  TEST_CASE("with another catalog, what is in both goes on and what has gone ends") {
    bench b;
    const auto before = row_of(two_families());
    before->set_value(0, 715);
    before->set_value(1, 100);
    before->set_read(0, at_s(10));
    CHECK(b.take({{"a", before}}, at_s(11)).size() == 2);

    const auto after =
        row_of(catalog_builder().group("rapl").series("os_load5", {}, -2).series("rapl_power_watts", {}, -1));
    after->set_value(1, 715);
    after->set_read(0, at_s(10));
    const auto change = b.take({{"a", after}}, at_s(12));
    REQUIRE(change.size() == 1);  // the reading of 10 s is not sent again
    CHECK(change[0].what == "a os_load1");
    CHECK(ends(change[0]));
  }

  TEST_CASE("defect: a series that looked like one that had just ended began before that end") {
    const auto row_with = [](std::vector<metrics::label_set> series) {
      catalog_builder c;
      c.group("textfile", 60'000);
      for (auto& labels : series) c.series("jobs", std::move(labels));
      return row_of(c);
    };
    const metrics::label_set none{}, empty{{"kind", ""}};
    struct {
      std::vector<metrics::label_set> before, after;
    } const table[] = {{{empty, none}, {none}}, {{none}, {empty, none}}, {{empty}, {none}}};
    for (const auto& t : table) {
      CAPTURE(&t - table);
      bench b;
      const auto before = row_with(t.before), after = row_with(t.after);
      for (std::size_t i = 0; i < t.before.size(); ++i) before->set_value(i, 1);
      before->set_read(0, at_s(10));
      CHECK(b.take({{"a", before}}, at_s(11)).size() == 1);
      for (std::size_t i = 0; i < t.after.size(); ++i) after->set_value(i, 2);
      after->set_read(0, at_s(12));
      const auto change = b.take({{"a", after}}, at_s(13));
      REQUIRE(change.size() == 1);  // and not the reading of 12 s, which is before the end
      CHECK(ends(change[0]));
      CHECK(change[0].at == at_s(13));
      after->set_read(0, at_s(14));
      CHECK(b.take({{"a", after}}, at_s(15)).size() == 1);
    }
  }

  TEST_CASE("only the families that were asked for leave") {
    bench b({"rapl_*"});
    const auto row = row_of(two_families());
    row->set_value(0, 715);
    row->set_value(1, 100);
    row->set_read(0, at_s(10));
    const auto all = b.take({{"a", row}}, at_s(11));
    REQUIRE(all.size() == 1);
    CHECK(all[0].what == "a rapl_power_watts");
  }

  TEST_CASE("a replica that takes over tells only what is read from then on") {
    bench b;
    const auto row = row_of(two_families());
    row->set_value(0, 715);
    row->set_read(0, at_s(10));
    b.it.begin(at_s(10.5));
    CHECK(b.take({{"a", row}}, at_s(11)).empty());  // the other replica told it
    row->set_read(0, at_s(11));
    CHECK(b.take({{"a", row}}, at_s(12)).size() == 1);
  }
}

}  // namespace binnacle::sender
