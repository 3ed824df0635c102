#include "aggregator/store/warehouse.hpp"

#include "tests/aggregator/store/bench.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::store {

using namespace std::chrono_literals;

TEST_SUITE("aggregator/store/warehouse") {
  TEST_CASE("a catalog that was prepared while the node got another one keeps the values all the same") {
    warehouse w;
    const node_id id = w.node("n1").value();
    const auto with = [](std::uint32_t version, std::initializer_list<const char*> units) {
      catalog_builder c;
      c.made.version = version;
      c.group("textfile");
      for (const char* unit : units) c.series("mine", {{"unit", unit}});
      return c.made;
    };
    const wire::catalog first = with(1, {"a", "b", "c"});
    REQUIRE(w.set_catalog(id, first, at_s(1)).has_value());
    REQUIRE(w.apply(id, batch_at(first, at_s(2), {{0, 10}, {1, 20}, {2, 30}}), 0s, at_s(2)).has_value());
    prepared_catalog late = w.preparation(id)(with(3, {"c", "a"}));
    REQUIRE(w.set_catalog(id, with(2, {"b", "c", "x", "a"}), at_s(3)).has_value());
    REQUIRE(w.set_catalog(id, std::move(late), at_s(4)).has_value());
    CHECK(w.cells(id)->peek(0).mantissa == 30);
    CHECK(w.cells(id)->peek(1).mantissa == 10);
  }

  TEST_CASE("a name keeps its id") {
    warehouse w({.nodes = 2});
    const node_id a = w.node("a").value();
    CHECK(w.node("b").value() != a);
    CHECK(w.node("a").value() == a);
    CHECK(w.find("a") == a);
    CHECK_FALSE(w.find("c").has_value());
    CHECK(w.name(a) == "a");
    CHECK(w.node("c").error().code == errc::overloaded);
    CHECK(w.node_count() == 2);
  }

  TEST_CASE("the families that nodes have announced are known") {
    bench b;
    const auto names = b.store.families();
    const auto has = [&names](std::string_view name) {
      return std::ranges::find(names, name) != names.end();
    };
    CHECK(has("rapl_power_watts"));
    CHECK_FALSE(has("rapl_power_watts_0"));
  }

  TEST_CASE("one node's exporters can't use up the names that are known, and its names go with its catalog") {
    warehouse w;
    std::uint32_t version = 0;
    const auto announce = [&](node_id id, const std::string& prefix, int families) {
      catalog_builder c;
      c.made.version = ++version;
      c.group("textfile");
      for (int i = 0; i < families; ++i) c.series(prefix + std::to_string(i));
      REQUIRE(w.set_catalog(id, c.made, at_s(1)).has_value());
    };
    const node_id liar = w.node("liar").value(), honest = w.node("honest").value();
    for (int i = 0; i < 10; ++i) announce(liar, "made_up_" + std::to_string(i) + "_", 9'000);
    CHECK(w.families().size() == announced_families::most_new_of_a_kind);
    announce(honest, "rack_inlet_", 2);
    CHECK(w.families().size() == announced_families::most_new_of_a_kind + 2);
    CHECK(w.families().back() == "rack_inlet_1");
    announce(liar, "rack_inlet_", 1);
    CHECK(w.families() == std::vector<std::string_view>{"rack_inlet_0", "rack_inlet_1"});
    w.set_linked(honest, false, at_s(2));
    CHECK(w.forget_idle(1s, at_s(10)).size() == 1);
    CHECK(w.families() == std::vector<std::string_view>{"rack_inlet_0"});
  }

  TEST_CASE("defect: a node that announced its names again, and one more, could use up all names") {
    warehouse w;
    const node_id liar = w.node("liar").value();
    for (int more = 1; more <= 5; ++more) {
      catalog_builder c;
      c.made.version = static_cast<std::uint32_t>(more);
      c.group("textfile");
      for (int i = 0; i < 9'000 + more; ++i) c.series("made_up_" + std::to_string(i));
      REQUIRE(w.set_catalog(liar, c.made, at_s(1)).has_value());
      CHECK(w.families().size() == announced_families::most_new_of_a_kind);
    }
  }

  TEST_CASE("a batch fills the row, brought to our time by the link's offset") {
    bench b;
    auto batch = batch_at(b.catalog, at_s(100), {{0, 605}});
    batch.absences.push_back({3, absence::permission});
    REQUIRE(b.store.apply(b.node, batch, 1000s, at_s(1101)).has_value());
    const auto cells = b.store.cells(b.node);
    const sample s = cells->load(0);
    CHECK(s.value == decimal{605, -1});
    CHECK(s.read_at == at_s(1100));
    CHECK(s.expires_at == at_s(1110));
    CHECK(s.present(at_s(1109)));
    CHECK_FALSE(s.present(at_s(1110)));
    CHECK(s.absent_because(at_s(1110)) == absence::stale);
    CHECK(cells->load(3).reason == absence::permission);
    CHECK(cells->load(1).reason == absence::not_read_yet);
    CHECK(cells->last_batch() == at_s(1101));
  }

  TEST_CASE("a batch that fits no catalog is refused whole") {
    bench b;
    b.send(100, {{0, 605}});
    auto bad = batch_at(b.catalog, at_s(101), {{0, 1}});
    SUBCASE("a series that is not there") { bad.values.push_back({12, 5}); }
    SUBCASE("an absence of a series that is not there") {
      bad.absences.push_back({4'000'000'000u, absence::missing});
    }
    SUBCASE("a group that is not there") { bad.reads.push_back({1, 0}); }
    SUBCASE("another catalog") { bad.catalog_version = 2; }
    const auto outcome = b.store.apply(b.node, bad, 0s, at_s(101));
    REQUIRE(outcome.has_error());
    CHECK(outcome.error().code == errc::protocol);
    CHECK(b.store.cells(b.node)->load(0).value == decimal{605, -1});
    CHECK(b.store.cells(b.node)->load(0).read_at == at_s(100));
    CHECK(b.store.counters().refused_batches == 1);
  }

  TEST_CASE("a batch before the catalog is refused") {
    warehouse w;
    const node_id n = w.node("a").value();
    CHECK(w.apply(n, {}, 0s, at_s(1)).error().code == errc::protocol);
    CHECK(w.cells(n) == nullptr);
  }

  TEST_CASE("no read lies in the future or before boot") {
    bench b;
    for (const std::int64_t wild : {to_ns(at_s(150)), INT64_MAX, INT64_MIN, std::int64_t{0}}) {
      CAPTURE(wild);
      auto batch = batch_at(b.catalog, at_s(100), {{0, 1}});
      batch.reads[0].read_at_ns = wild;
      REQUIRE(b.store.apply(b.node, batch, 0s, at_s(100)).has_value());
      const sample s = b.store.cells(b.node)->load(0);
      CHECK(s.read_at <= at_s(100));
      CHECK(s.read_at > instant{});
    }
    CHECK(b.store.counters().clamped_reads == 4);
  }

  TEST_CASE("a full batch speaks of every series: what it leaves out is gone") {
    bench b;
    b.send(100, {{0, 600}, {1, 500}});
    auto full = batch_at(b.catalog, at_s(101), {{0, 601}});
    full.full = true;
    REQUIRE(b.store.apply(b.node, full, 0s, at_s(101)).has_value());
    CHECK(b.store.cells(b.node)->load(0).present(at_s(101)));
    CHECK(b.store.cells(b.node)->load(1).reason == absence::not_read_yet);
  }

  TEST_CASE("values of refused series go nowhere") {
    bench b;
    catalog_builder c;
    c.group("textfile")
        .series("rapl_power_watts", {{"package", "0"}})
        .series("mine")
        .group("rapl")
        .series("rapl_power_watts", {{"package", "0"}}, -1);
    b.catalog = c;
    const auto outcome = b.store.set_catalog(b.node, b.catalog, at_s(100));
    CHECK(outcome->refused_series == 1);
    CHECK(b.store.counters().refused_series == 1);
    b.send(100, {{0, 1}, {1, 2}, {2, 3}});
    CHECK(b.store.cells(b.node)->load(0).value == decimal{2, 0});
    CHECK(b.store.cells(b.node)->load(1).value == decimal{3, -1});
  }

  TEST_CASE("a catalog out of bounds leaves the old one in force") {
    bench b;
    b.send(100, {{0, 605}});
    wire::catalog huge = b.catalog;
    huge.series.resize(10'001, huge.series[0]);
    CHECK(b.store.set_catalog(b.node, huge, at_s(100)).error().code == errc::invalid_input);
    CHECK(b.store.counters().refused_catalogs == 1);
    b.send(101, {{0, 606}});
    CHECK(b.store.cells(b.node)->load(0).value == decimal{606, -1});
  }

  TEST_CASE("all nodes together have a bound too") {
    warehouse w({.series = 20});
    CHECK(w.set_catalog(w.node("a").value(), two_packages(), at_s(1)).has_value());
    CHECK(w.set_catalog(w.node("b").value(), two_packages(), at_s(1)).error().code == errc::overloaded);
    CHECK(w.set_catalog(w.node("a").value(), two_packages().series("x"), at_s(1)).has_value());
    CHECK(w.series_count() == 13);
  }

  TEST_CASE("nodes of one kind share shape and plans") {
    bench b;
    const node_id other = b.store.node("node-2").value();
    REQUIRE(b.store.set_catalog(other, b.catalog, at_s(99)).has_value());
    CHECK(b.store.cells(other)->shared_shape() == b.store.cells(b.node)->shared_shape());
    CHECK(b.store.kinds() == 1);
  }

  TEST_CASE("the same catalog again, as after a reconnect, keeps the row") {
    bench b;
    b.send(100, {{0, 605}});
    const auto before = b.store.cells(b.node);
    const auto outcome = b.store.set_catalog(b.node, b.catalog, at_s(101));
    CHECK_FALSE(outcome->changed);
    CHECK(outcome->cells == before);
  }

  TEST_CASE("a changed catalog keeps the values and ages of what stayed") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts"}, at_s(99));
    b.send(100, {{0, 600}, {1, 500}, {2, 70}});
    catalog_builder c = two_packages();
    c.made.version = 2;
    c.made.series[1].exponent = -2;  // announced again because a value no longer fitted
    c.made.series.erase(c.made.series.begin() + 4);
    c.group("textfile").series("mine");
    b.catalog = c;
    const auto outcome = b.store.set_catalog(b.node, b.catalog, at_s(101));
    CHECK(outcome->changed);
    CHECK(outcome->cells->load(0).value == decimal{600, -1});
    CHECK(outcome->cells->load(1).value == decimal{5000, -2});
    CHECK(outcome->cells->load(1).read_at == at_s(100));
    CHECK(outcome->cells->load(11).reason == absence::not_read_yet);
    CHECK(column.values->load(b.node).value == decimal{1170, -1});
    CHECK(column.values->load(b.node).read_at == at_s(100));
  }
}

TEST_SUITE("aggregator/store/warehouse/forgetting") {
  TEST_CASE("a node that was away for too long makes room for another") {
    warehouse w({.nodes = 2});
    const wire::catalog c = two_packages();
    const auto column = w.watch({"rapl_power_watts_0"}, at_s(1));
    for (const char* name : {"a", "b"}) {
      const node_id n = w.node(name).value();
      w.set_linked(n, true, at_s(1));
      REQUIRE(w.set_catalog(n, c, at_s(1)).has_value());
      REQUIRE(w.apply(n, batch_at(c, at_s(2), {{0, 605}}), 0s, at_s(2)).has_value());
    }
    const node_id a = *w.find("a");
    w.set_linked(a, false, at_s(10));
    CHECK(w.forget_idle(100s, at_s(109)).empty());
    CHECK(w.node("c").has_error());
    const auto gone = w.forget_idle(100s, at_s(110));
    REQUIRE(gone.size() == 1);
    CHECK(gone[0].id == a);
    CHECK(gone[0].name == "a");
    CHECK_FALSE(w.known(a));
    CHECK_FALSE(w.find("a").has_value());
    CHECK(w.node_count() == 1);
    CHECK(w.series_count() == c.series.size());
    CHECK(column.values->load(a).reason == absence::not_read_yet);
    CHECK(column.values->load(*w.find("b")).value == decimal{605, -1});
    CHECK(w.counters().forgotten == 1);
    CHECK(w.forget_idle(100s, at_s(500)).empty());
    // The node comes back with another id.
    const node_id again = w.node("a").value();
    CHECK(again != a);
    REQUIRE(w.set_catalog(again, c, at_s(600)).has_value());
    REQUIRE(w.apply(again, batch_at(c, at_s(600), {{0, 700}}), 0s, at_s(600)).has_value());
    CHECK(column.values->load(again).value == decimal{700, -1});
  }

  TEST_CASE("a node that is connected, or came back, is not forgotten") {
    warehouse w;
    const node_id a = w.node("a").value();
    w.set_linked(a, true, at_s(1));
    CHECK(w.forget_idle(1s, at_s(1000)).empty());
    w.set_linked(a, false, at_s(1000));
    w.set_linked(a, true, at_s(1001));
    CHECK(w.forget_idle(1s, at_s(2000)).empty());
  }

  TEST_CASE("ids are not given out for ever") {
    warehouse w({.nodes = 1});
    for (int i = 0; i < 16; ++i) {
      const node_id n = w.node(std::to_string(i)).value();
      w.set_linked(n, false, at_s(1));
      REQUIRE(w.forget_idle(1s, at_s(10)).size() == 1);
    }
    CHECK(w.ids_given() == w.most_ids());
    CHECK(w.node("x").error().message.find("restart the aggregator") != std::string::npos);
  }
}

}  // namespace binnacle::store
