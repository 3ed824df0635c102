#include "aggregator/store/shape.hpp"

#include "common/wire/limits.hpp"
#include "tests/aggregator/store/nodes.hpp"
#include "tests/support/colliding_names.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <unordered_set>
#include <vector>

namespace binnacle::store {

TEST_SUITE("aggregator/store/shape") {
  TEST_CASE("a catalog of names that were chosen to collide makes no series share a hash") {
    constexpr std::size_t many = 2'000;
    const auto names = test::colliding_names(many);
    wire::catalog chosen = catalog_builder().group("x");
    std::unordered_set<std::size_t> plain, ours;
    for (const std::string& name : names) {
      chosen.series.push_back({.family = name, .group = 0});
      plain.insert(std::hash<std::string>{}(name));
      ours.insert(series_hash(name, {}));
    }
    CHECK(plain.size() == 1);
    CHECK(ours.size() == many);
    const auto made = make_shape(chosen, {});
    REQUIRE(made.has_value());
    CHECK(made->what.all.size() == many);
  }

  TEST_CASE("series are found by family and by flat name") {
    const auto made = make_shape(two_packages(), {});
    REQUIRE(made.has_value());
    const shape& s = made->what;
    CHECK(s.all.size() == 12);
    CHECK(s.places.empty());
    CHECK(s.of_family("rapl_power_watts").size() == 2);
    CHECK(s.of_family("rapl_power").empty());
    REQUIRE(s.of_flat("rapl_power_watts_1") != nullptr);
    CHECK(*s.of_flat("rapl_power_watts_1") == 1);
    CHECK(s.of_flat("rapl_power_watts_2") == nullptr);
    CHECK(s.of_flat("") == nullptr);
    CHECK(s.all[2].flat == "rapl_zone_power_watts_dram_0");
  }

  TEST_CASE(
      "labels of our families are put in the order of the family, so that flat names do not depend on the "
      "agent") {
    const auto made = make_shape(catalog_builder().group("rapl").series(
                                     "rapl_zone_power_watts", {{"package", "0"}, {"zone", "dram"}}, -1),
                                 {});
    CHECK(made->what.all[0].flat == "rapl_zone_power_watts_dram_0");
  }

  TEST_CASE("a series whose flat name would be long has none, and the others keep theirs") {
    const std::string longest(wire::max_name - std::string("my_").size(), 'x');
    const auto made = make_shape(catalog_builder()
                                     .group("textfile")
                                     .series("my", {{"a", longest}}, 0)
                                     .series("my", {{"a", longest + "x"}}, 0)
                                     .series("my", {{"a", "1"}}, 0),
                                 {});
    CHECK(made->what.all[0].flat == "my_" + longest);
    CHECK(made->what.all[1].flat.empty());
    CHECK(made->what.all[2].flat == "my_1");
    CHECK(made->refused_names == 1);
  }

  TEST_CASE("series of pods have no flat name, and pods that come and go leave the names as they are") {
    const auto with_pods = [](std::initializer_list<const char*> uids) {
      catalog_builder c = two_packages();
      c.group("pmu");
      for (const char* uid : uids) {
        c.series("pmu_pod_cycles_per_second", {{"pod_uid", uid}});
        c.series("pmu_pod_instructions_per_cycle", {{"pod_uid", uid}}, -4);
      }
      c.group("scrape").series("mine", {{"pod_uid", *uids.begin()}}).series("mine_too", {{"rack", "7"}});
      for (const char* uid : uids) c.series("theirs", {{"namespace", "default"}, {"pod", uid}});
      c.series("idle", {{"gpu", "0"}, {"namespace", ""}, {"pod", ""}}).series("queue", {{"pod", "front"}});
      return c;
    };
    shape_pool pool;
    const auto one = pool.intern(make_shape(with_pods({"a", "b"}), {})->what);
    const auto other = pool.intern(make_shape(with_pods({"c"}), {})->what);
    for (const shape::series& s : one->all) {
      CAPTURE(s.family);
      const bool of_a_pod =
          s.family == "theirs" || (!s.labels.empty() && s.labels.front().first == "pod_uid");
      CHECK(s.flat.empty() == (of_a_pod || s.labels.empty()));
    }
    CHECK(one != other);
    CHECK(one->names == other->names);
    CHECK(std::ranges::count(one->names->families, "pmu_pod_cycles_per_second") == 1);
    const auto fewer = pool.intern(make_shape(two_packages(), {})->what);
    CHECK(fewer->names != one->names);
  }

  TEST_CASE("an exporter may not take an old name of a metric that the node's own source gives") {
    const auto with_exporter = [](catalog_builder c) {
      return make_shape(c.group("scrape").series("collectd_package_0_power_power").series("collectd_mine"),
                        {});
    };
    const auto both = with_exporter(two_packages());
    CHECK(both->refused_series == 1);
    REQUIRE(both->refusals.size() == 1);
    CHECK(both->refusals.front().find("is an old name of a metric that our own source gives") !=
          std::string::npos);
    CHECK(both->what.of_family("collectd_package_0_power_power").empty());
    CHECK(both->what.of_family("collectd_mine").size() == 1);
    // A file on the node may bring a series of this name. An exporter may bring it if our own source does not
    // give the metric: collectd may still measure there.
    const auto by_file =
        make_shape(two_packages().group("textfile").series("collectd_package_0_power_power"), {});
    CHECK(by_file->refused_series == 0);
    const auto alone = with_exporter(catalog_builder().group("os").series("os_load1", {}, -2));
    CHECK(alone->refused_series == 0);
    CHECK(alone->what.of_family("collectd_package_0_power_power").size() == 1);
  }

  TEST_CASE("each series is found where it stood before, whatever came or went around it") {
    const auto of = [](std::initializer_list<const char*> units) {
      catalog_builder c;
      c.group("textfile");
      for (const char* unit : units) c.series("mine", {{"unit", unit}});
      return make_shape(c, {})->what;
    };
    const auto no = nowhere;
    using places = std::vector<std::uint32_t>;
    const shape old = of({"a", "b", "c", "d"});
    CHECK(origins(of({"a", "b", "c", "d"}), old) == places{0, 1, 2, 3});
    CHECK(origins(of({"a", "c", "d"}), old) == places{0, 2, 3});
    CHECK(origins(of({"x", "a", "b", "y", "c", "d", "z"}), old) == places{no, 0, 1, no, 2, 3, no});
    CHECK(origins(of({"d", "c", "b", "a"}), old) == places{3, 2, 1, 0});
    CHECK(origins(old, of({})) == places{no, no, no, no});
    CHECK(origins(of({}), old).empty());
  }

  TEST_CASE("series without labels and per-CPU series have no flat name") {
    const auto made = make_shape(catalog_builder()
                                     .group("os")
                                     .series("os_load1", {}, -2)
                                     .group("textfile")
                                     .series("mine", {{"cpu", "3"}}),
                                 {});
    CHECK(made->what.all[0].flat.empty());
    CHECK(made->what.all[1].flat.empty());
    CHECK(made->what.by_flat.empty());
    CHECK(made->refused_names == 0);
  }

  TEST_CASE("a user's series with the name of one of ours is refused by name, wherever it stands") {
    for (const bool first : {true, false}) {
      CAPTURE(first);
      catalog_builder c;
      if (first) c.group("textfile").series("rapl_power_watts", {{"package", "0"}}, -3);
      c.group("rapl").series("rapl_power_watts", {{"package", "0"}}, -1);
      if (!first) c.group("textfile").series("rapl_power_watts", {{"package", "9"}}, -3);
      const auto made = make_shape(c, {});
      REQUIRE(made.has_value());
      CHECK(made->refused_series == 1);
      REQUIRE(made->refusals.size() == 1);
      CHECK(made->refusals[0].find("rapl_power_watts") != std::string::npos);
      REQUIRE(made->what.all.size() == 1);
      CHECK(made->what.all[0].exponent == -1);
      const std::vector<std::uint32_t> places = first ? std::vector<std::uint32_t>{shape::refused, 0}
                                                      : std::vector<std::uint32_t>{0, shape::refused};
      CHECK(made->what.places == places);
    }
  }

  TEST_CASE("a user may bring a family of ours on a machine that does not have its source") {
    const auto made = make_shape(
        catalog_builder().group("textfile").series("rapl_power_watts", {{"package", "0"}}, -1), {});
    CHECK(made->refused_series == 0);
    CHECK(made->what.of_family("rapl_power_watts").size() == 1);
  }

  TEST_CASE("a user's family named like a flat name of ours is refused") {
    const auto made = make_shape(catalog_builder()
                                     .group("textfile")
                                     .series("rapl_power_watts_0")
                                     .group("rapl")
                                     .series("rapl_power_watts", {{"package", "0"}}, -1),
                                 {});
    CHECK(made->refused_series == 1);
    REQUIRE(made->what.of_flat("rapl_power_watts_0") != nullptr);
    CHECK(made->what.all[*made->what.of_flat("rapl_power_watts_0")].family == "rapl_power_watts");
  }

  TEST_CASE("of two foreign series with one flat name the first keeps it and both stay") {
    const auto made = make_shape(catalog_builder()
                                     .group("textfile")
                                     .series("rack", {{"unit", "a-b"}})
                                     .series("rack", {{"unit", "a_b"}}),
                                 {});
    CHECK(made->refused_series == 0);
    CHECK(made->refused_names == 1);
    CHECK(made->what.all[0].flat == "rack_a_b");
    CHECK(made->what.all[1].flat.empty());
  }

  TEST_CASE("a series that its reader left out keeps its index and is no series") {
    wire::catalog c = two_packages();
    const auto whole = make_shape(c, {});
    c.series[1] = {};
    c.series[1].group = 999;
    const auto made = make_shape(c, {});
    REQUIRE(made.has_value());
    CHECK(made->refused_series == 1);
    REQUIRE(made->what.places.size() == c.series.size());
    CHECK(made->what.places[1] == shape::refused);
    CHECK(made->what.all[made->what.places[2]].family == whole->what.all[2].family);
  }

  TEST_CASE("the same series twice is one series") {
    const auto made = make_shape(catalog_builder()
                                     .group("textfile")
                                     .series("rack", {{"a", "1"}, {"b", "2"}})
                                     .series("rack", {{"b", "2"}, {"a", "1"}}),
                                 {});
    CHECK(made->refused_series == 1);
    CHECK(made->what.all.size() == 1);
  }

  TEST_CASE("the counter behind a series is known, also after series that were refused") {
    catalog_builder c = two_packages();
    const shape whole = make_shape(c, {})->what;
    REQUIRE(whole.counter_of(1) != nullptr);
    CHECK(*whole.counter_of(1) == 6);
    CHECK(whole.counter_of(3) == nullptr);  // there is no energy of the cores
    CHECK(whole.counter_of(6) == nullptr);  // it is a counter
    c.made.series[0] = {};
    const shape without_first = make_shape(c, {})->what;
    REQUIRE(without_first.counter_of(0) != nullptr);
    CHECK(*without_first.counter_of(0) == 5);
    const shape none = make_shape(catalog_builder().group("os").series("os_load1", {}, -2), {})->what;
    CHECK(none.counters.empty());
    CHECK(none.counter_of(0) == nullptr);
  }

  TEST_CASE("a catalog out of bounds is refused as a whole, with its size") {
    catalog_builder c;
    c.group("textfile");
    SUBCASE("a million series") {
      c.made.series.resize(1'000'000, c.series("x").made.series[0]);
      const auto made = make_shape(c, {});
      REQUIRE(made.has_error());
      CHECK(made.error().code == errc::invalid_input);
      CHECK(made.error().message.find("1000000 series") != std::string::npos);
    }
    SUBCASE("a group that is not there") {
      c.series("x").made.series[0].group = 1;
      CHECK(make_shape(c, {}).has_error());
    }
    SUBCASE("an exponent beyond a decimal's") {
      c.series("x", {}, 19);
      CHECK(make_shape(c, {}).has_error());
      c.made.series[0].exponent = -19;
      CHECK(make_shape(c, {}).has_error());
    }
    SUBCASE("too many groups") {
      c.made.groups.resize(1'001, c.made.groups[0]);
      CHECK(make_shape(c, {}).has_error());
    }
  }

  TEST_CASE("refusals are told for the first few series only") {
    catalog_builder c;
    c.group("textfile");
    for (int i = 0; i < 100; ++i) c.series("same");
    const auto made = make_shape(c, {});
    CHECK(made->refused_series == 99);
    CHECK(made->refusals.size() == 8);
  }

  TEST_CASE("equal catalogs share one shape, and a shape nobody has is forgotten") {
    shape_pool pool;
    auto a = pool.intern(make_shape(two_packages(), {})->what);
    auto b = pool.intern(make_shape(two_packages(), {})->what);
    CHECK(a == b);
    auto c = pool.intern(make_shape(two_packages().series("rapl_limit_watts"), {})->what);
    CHECK(c != a);
    auto d = pool.intern(make_shape(two_packages().group("os", 30'000), {})->what);
    CHECK(d != a);
    CHECK(pool.size() == 3);
    for (int i = 0; i < 1000; ++i)
      pool.intern(make_shape(catalog_builder().group("x").series("s" + std::to_string(i)), {})->what);
    CHECK(pool.size() < 100);
    CHECK(pool.intern(make_shape(two_packages(), {})->what) == a);
  }
}

}  // namespace binnacle::store
