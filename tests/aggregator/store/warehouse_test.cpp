#include "aggregator/store/warehouse.hpp"

#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <tuple>

namespace binnacle::store {

using namespace std::chrono_literals;

namespace {

struct seen {
  column_id column;
  node_id node;
  sample what;
};

/// A warehouse that writes down what it tells, and the usual node.
struct bench {
  std::vector<seen> told;
  warehouse store{{}, [this](column_id c, node_id n, const sample& s) { told.push_back({c, n, s}); }};
  wire::catalog catalog = two_packages();
  node_id node = store.node("node-1").value();

  bench() { REQUIRE(store.set_catalog(node, catalog, at_s(99)).has_value()); }
  /// A batch read at `t` that arrives at once.
  void send(double t, std::vector<std::pair<std::uint32_t, std::int64_t>> values = {}) {
    REQUIRE(store.apply(node, batch_at(catalog, at_s(t), std::move(values)), 0s, at_s(t)).has_value());
  }
  void send_watts(double t, std::int64_t package0) { send(t, {{0, package0}, {1, 500}, {2, 70}}); }
};

std::uint32_t wanted_ms(const warehouse& w, std::string_view family) {
  for (const auto& wish : w.interest().wishes) {
    if (wish.family == family) return wish.period_ms;
  }
  return 0;
}

}  // namespace

TEST_SUITE("aggregator/store/warehouse") {
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
    CHECK(b.store.families().contains("rapl_power_watts"));
    CHECK_FALSE(b.store.families().contains("rapl_power_watts_0"));
  }

  TEST_CASE("a batch fills the row, brought to our time by the link's offset") {
    bench b;
    auto batch = batch_at(b.catalog, at_s(100), {{0, 605}});
    batch.absences.push_back({3, wire::absence::permission});
    REQUIRE(b.store.apply(b.node, batch, 1000s, at_s(1101)).has_value());
    const auto cells = b.store.cells(b.node);
    const sample s = cells->load(0);
    CHECK(s.value == decimal{605, -1});
    CHECK(s.read_at == at_s(1100));
    CHECK(s.expires_at == at_s(1110));
    CHECK(s.present(at_s(1109)));
    CHECK_FALSE(s.present(at_s(1110)));
    CHECK(s.absent_because(at_s(1110)) == wire::absence::stale);
    CHECK(cells->load(3).reason == wire::absence::permission);
    CHECK(cells->load(1).reason == wire::absence::not_read_yet);
    CHECK(cells->last_batch() == at_s(1101));
  }

  TEST_CASE("a batch that fits no catalogue is refused whole") {
    bench b;
    b.send(100, {{0, 605}});
    auto bad = batch_at(b.catalog, at_s(101), {{0, 1}});
    SUBCASE("a series that is not there") { bad.values.push_back({12, 5}); }
    SUBCASE("an absence of a series that is not there") {
      bad.absences.push_back({4'000'000'000u, wire::absence::missing});
    }
    SUBCASE("a group that is not there") { bad.reads.push_back({1, 0}); }
    SUBCASE("another catalogue") { bad.catalog_version = 2; }
    const auto outcome = b.store.apply(b.node, bad, 0s, at_s(101));
    REQUIRE(outcome.has_error());
    CHECK(outcome.error().code == errc::protocol);
    CHECK(b.store.cells(b.node)->load(0).value == decimal{605, -1});
    CHECK(b.store.cells(b.node)->load(0).read_at == at_s(100));
    CHECK(b.store.counters().refused_batches == 1);
  }

  TEST_CASE("a batch before the catalogue is refused") {
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
    CHECK(b.store.cells(b.node)->load(1).reason == wire::absence::not_read_yet);
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

  TEST_CASE("a catalogue out of bounds leaves the old one in force") {
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

  TEST_CASE("the same catalogue again, as after a reconnect, keeps the row") {
    bench b;
    b.send(100, {{0, 605}});
    const auto before = b.store.cells(b.node);
    const auto outcome = b.store.set_catalog(b.node, b.catalog, at_s(101));
    CHECK_FALSE(outcome->changed);
    CHECK(outcome->cells == before);
  }

  TEST_CASE("a changed catalogue keeps the values and ages of what stayed") {
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
    CHECK(outcome->cells->load(11).reason == wire::absence::not_read_yet);
    CHECK(column.values->load(b.node).value == decimal{1170, -1});
    CHECK(column.values->load(b.node).read_at == at_s(100));
  }
}

TEST_SUITE("aggregator/store/warehouse/columns") {
  TEST_CASE("a watched metric is derived from every batch that touches it") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts"}, at_s(99));
    CHECK(column.values->load(b.node).reason == wire::absence::not_read_yet);
    b.send_watts(100, 600);
    REQUIRE(b.told.size() == 1);
    CHECK(b.told[0].column == column.id);
    CHECK(b.told[0].node == b.node);
    CHECK(b.told[0].what.value == decimal{1170, -1});
    CHECK(column.values->load(b.node) == b.told[0].what);
  }

  TEST_CASE("a read that changed no value refreshes the age") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts"}, at_s(99));
    b.send_watts(100, 600);
    b.send(101);
    CHECK(column.values->load(b.node).value == decimal{1170, -1});
    CHECK(column.values->load(b.node).read_at == at_s(101));
    CHECK(column.values->load(b.node).expires_at == at_s(111));
  }

  TEST_CASE("a batch of other groups leaves a column alone") {
    bench b;
    catalog_builder c = two_packages();
    c.group("os").series("os_load1", {}, -2);
    b.catalog = c;
    REQUIRE(b.store.set_catalog(b.node, b.catalog, at_s(99)).has_value());
    b.store.watch({"rapl_power_watts"}, at_s(99));
    auto batch = batch_at(b.catalog, at_s(100), {{12, 35}});
    batch.reads.erase(batch.reads.begin());
    REQUIRE(b.store.apply(b.node, batch, 0s, at_s(100)).has_value());
    CHECK(b.told.empty());
  }

  TEST_CASE("an absence in a batch without a read makes the column absent") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts"}, at_s(99));
    b.send_watts(100, 600);
    wire::batch failed{.catalog_version = 1, .sent_at_ns = to_ns(at_s(101))};
    failed.absences.push_back({1, wire::absence::malformed});
    REQUIRE(b.store.apply(b.node, failed, 0s, at_s(101)).has_value());
    CHECK(column.values->load(b.node).reason == wire::absence::malformed);
  }

  TEST_CASE("a new column is filled at once from what is there, without calls") {
    bench b;
    b.send_watts(100, 600);
    const auto column = b.store.watch({"rapl_power_watts_0"}, at_s(101));
    CHECK(column.values->load(b.node).value == decimal{600, -1});
    CHECK(b.told.empty());
  }

  TEST_CASE("equal specs share a column until the last user leaves") {
    bench b;
    const auto first = b.store.watch({"rapl_power_watts"}, at_s(99));
    const auto second = b.store.watch({"rapl_power_watts"}, at_s(99));
    const auto other = b.store.watch({"rapl_power_watts", 10s}, at_s(99));
    CHECK(first.id == second.id);
    CHECK(first.values == second.values);
    CHECK(other.id != first.id);
    CHECK(b.store.columns_in_use() == 2);
    b.store.unwatch(first.id);
    b.send_watts(100, 600);
    CHECK(b.told.size() == 2);
    b.store.unwatch(first.id);
    b.store.unwatch(other.id);
    CHECK(b.store.columns_in_use() == 0);
    b.send_watts(101, 601);
    CHECK(b.told.size() == 2);
    // An id that came back does not bring anything of its former column.
    const auto fresh = b.store.watch({"rapl_energy_joules_total"}, at_s(101));
    CHECK(index(fresh.id) < 2);
    CHECK(fresh.values->spec().metric == "rapl_energy_joules_total");
    CHECK(fresh.values->load(b.node).reason == wire::absence::not_read_yet);
  }

  TEST_CASE("nodes that come later get the columns in use") {
    bench b;
    const auto column = b.store.watch({"mine"}, at_s(99));
    const node_id late = b.store.node("late").value();
    const wire::catalog c = catalog_builder().group("textfile").series("mine");
    REQUIRE(b.store.set_catalog(late, c, at_s(100)).has_value());
    CHECK(column.values->load(late).reason == wire::absence::not_read_yet);
    REQUIRE(b.store.apply(late, batch_at(c, at_s(101), {{0, 7}}), 0s, at_s(101)).has_value());
    CHECK(column.values->load(late).value == decimal{7, 0});
    CHECK(column.values->load(b.node).reason == wire::absence::missing);
  }

  TEST_CASE("when the link is down values stay until they expire and then say so") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts"}, at_s(99));
    b.send_watts(100, 600);
    b.store.set_linked(b.node, false, at_s(105));
    const sample s = column.values->load(b.node);
    CHECK(s.present(at_s(109)));
    CHECK(s.absent_because(at_s(110)) == wire::absence::disconnected);
    CHECK(b.store.cells(b.node)->load(0).absent_because(at_s(110)) == wire::absence::disconnected);
    CHECK(b.told.size() == 2);
    b.store.set_linked(b.node, true, at_s(106));
    CHECK(column.values->load(b.node).absent_because(at_s(110)) == wire::absence::stale);
  }

  TEST_CASE("families in use name members, flat names and counters") {
    bench b;
    b.store.watch({"collectd_package_0_power_power"}, at_s(99));
    b.store.watch({"rapl_tdp_utilization_ratio"}, at_s(99));
    b.store.watch({"mine"}, at_s(99));
    b.store.watch({"rapl_zone_power_watts_core_0"}, at_s(99));
    for (const char* name : {"rapl_power_watts", "rapl_zone_power_watts", "rapl_tdp_watts",
                             "rapl_energy_joules_total", "mine"}) {
      CAPTURE(name);
      CHECK(wanted_ms(b.store, name) != 0);
    }
  }

  TEST_CASE("interest asks for watched power five times a second, for long means as often as they need") {
    bench b;
    const auto now = b.store.watch({"rapl_power_watts"}, at_s(99));
    CHECK(wanted_ms(b.store, "rapl_power_watts") == 200);
    CHECK(wanted_ms(b.store, "os_load1") == 0);
    b.store.unwatch(now.id);
    CHECK(wanted_ms(b.store, "rapl_power_watts") == 0);
    b.store.watch({"rapl_power_watts", 30s, statistic::avg}, at_s(99));
    CHECK(wanted_ms(b.store, "rapl_power_watts") == 600);
    const auto peak = b.store.watch({"rapl_power_watts", 10min, statistic::max}, at_s(99));
    CHECK(wanted_ms(b.store, "rapl_power_watts") == 200);  // a peak lies between the points of a thin series
    b.store.unwatch(peak.id);
    CHECK(wanted_ms(b.store, "rapl_power_watts") == 600);
    b.store.watch({"os_load1", 10min, statistic::avg}, at_s(99));
    CHECK(wanted_ms(b.store, "os_load1") == 1000);
    // An old name's own window.
    b.store.watch({"collectd_package_0_power_power"}, at_s(99));
    CHECK(wanted_ms(b.store, "rapl_power_watts") == 200);
  }

  TEST_CASE("whoever watches a composite watches what it is made of") {
    bench b;
    b.store.watch({"host_power_watts"}, at_s(99));
    CHECK(wanted_ms(b.store, "host_power_watts") == 200);
    CHECK(wanted_ms(b.store, "rapl_power_watts") == 200);
    CHECK(wanted_ms(b.store, "bmc_dcmi_power_watts") == 1000);
  }
}

TEST_SUITE("aggregator/store/warehouse/families") {
  TEST_CASE("a node that brings a family not seen yet changes the version, another of its kind does not") {
    warehouse w;
    w.watch({"rack_inlet_top"}, at_s(1));
    const auto before = w.interest_version();
    const wire::catalog c = catalog_builder().group("textfile").series("rack_inlet", {{"where", "top"}});
    REQUIRE(w.set_catalog(w.node("a").value(), c, at_s(1)).has_value());
    const auto with = w.interest_version();
    CHECK(with != before);
    CHECK(wanted_ms(w, "rack_inlet") == 1000);
    REQUIRE(w.set_catalog(w.node("b").value(), c, at_s(1)).has_value());
    CHECK(w.interest_version() == with);
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
    CHECK(column.values->load(a).reason == wire::absence::not_read_yet);
    CHECK(column.values->load(*w.find("b")).value == decimal{605, -1});
    CHECK(w.counters().forgotten == 1);
    CHECK(w.forget_idle(100s, at_s(500)).empty());
    // It comes back as another.
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
    CHECK(w.node("x").error().message.find("restart the aggregator") != std::string::npos);
  }
}

TEST_SUITE("aggregator/store/warehouse/expiry") {
  /// Two sensors of two files under one name: their node's number is the maximum.
  struct two_files {
    std::vector<seen> told;
    warehouse store{{}, [this](column_id c, node_id n, const sample& s) { told.push_back({c, n, s}); }};
    wire::catalog catalog = catalog_builder()
                                .group("textfile", 10'000, "a.prom")
                                .series("rack_inlet", {{"where", "top"}})
                                .group("textfile", 10'000, "b.prom")
                                .series("rack_inlet", {{"where", "bottom"}});
    node_id node = store.node("n").value();
    std::shared_ptr<const shared_column> column = store.watch({"rack_inlet"}, at_s(1)).values;

    two_files() { REQUIRE(store.set_catalog(node, catalog, at_s(1)).has_value()); }
    void send(double t, std::uint16_t group, std::int64_t value) {
      wire::batch b{.catalog_version = 1, .sent_at_ns = to_ns(at_s(t))};
      b.reads.push_back({group, to_ns(at_s(t))});
      b.values.push_back({group, value});
      REQUIRE(store.apply(node, b, 0s, at_s(t)).has_value());
    }
  };

  TEST_CASE("a maximum goes on with what is there when one of its groups is too old") {
    two_files f;
    CHECK(f.store.next_deadline() == instant::max());
    f.send(100, 0, 30);
    f.send(101, 1, 25);
    f.send(104, 1, 26);
    CHECK(f.column->load(f.node).expires_at == at_s(110));
    CHECK(f.store.next_deadline() == at_s(110));
    f.told.clear();
    f.store.expire(at_s(110));
    REQUIRE(f.told.size() == 1);
    CHECK(f.told[0].what.value == decimal{26, 0});
    CHECK(f.told[0].what.partial);
    CHECK(f.told[0].what.expires_at == at_s(114));
    CHECK(f.column->load(f.node) == f.told[0].what);
    // The last one ends as any value does.
    CHECK(f.store.next_deadline() == at_s(114));
    f.store.expire(at_s(114));
    CHECK(f.told.size() == 1);
    CHECK(f.column->load(f.node).absent_because(at_s(114)) == wire::absence::stale);
    CHECK(f.store.next_deadline() == instant::max());
    f.send(120, 0, 31);
    CHECK(f.store.next_deadline() == at_s(130));
  }

  TEST_CASE("a deadline that new reads have moved tells nobody") {
    two_files f;
    f.send(100, 0, 30);
    f.send(100, 1, 25);
    f.send(108, 0, 30);
    f.send(108, 1, 25);
    f.told.clear();
    f.store.expire(at_s(110));
    CHECK(f.told.empty());
    CHECK(f.store.next_deadline() == at_s(118));
  }

  TEST_CASE("a sum ends with its first member and needs no deadline") {
    bench b;
    b.store.watch({"rapl_power_watts"}, at_s(99));
    b.send_watts(100, 600);
    CHECK(b.store.next_deadline() == instant::max());
  }

  TEST_CASE("a deadline of a column that is gone does nothing") {
    two_files f;
    f.send(100, 0, 30);
    f.send(104, 1, 26);
    f.store.unwatch(column_id{0});
    f.told.clear();
    f.store.expire(at_s(200));
    CHECK(f.told.empty());
    CHECK(f.store.next_deadline() == instant::max());
  }
}

TEST_SUITE("aggregator/store/warehouse/names") {
  TEST_CASE("a user's alias makes a column, scaled") {
    metrics::alias_table names;
    names.add({.name = "node_kw", .family = "rapl_power_watts", .scale = 0.001, .note = "test"});
    warehouse w({}, {}, names);
    const wire::catalog c = two_packages();
    const node_id n = w.node("a").value();
    REQUIRE(w.set_catalog(n, c, at_s(99)).has_value());
    const auto column = w.watch({"node_kw"}, at_s(99));
    REQUIRE(w.apply(n, batch_at(c, at_s(100), {{0, 605}, {1, 500}, {2, 70}}), 0s, at_s(100)).has_value());
    CHECK(column.values->load(n).value == decimal{1175, -4});
  }

  TEST_CASE("other aliases make the columns of their names anew, and leave the others alone") {
    std::vector<std::pair<std::uint32_t, decimal>> told;
    metrics::alias_table first, second;
    first.add({.name = "heat", .family = "rapl_power_watts", .scale = 0.001, .note = "test"});
    second.add({.name = "heat",
                .family = "rapl_power_watts",
                .label = "package",
                .value = "1",
                .window = 30s,
                .note = "test"});
    warehouse w({}, {}, first);
    w.set_sink([&](column_id c, node_id, const sample& s) { told.emplace_back(index(c), s.value); });
    const wire::catalog c = two_packages();
    const node_id n = w.node("a").value();
    REQUIRE(w.set_catalog(n, c, at_s(99)).has_value());
    const auto heat = w.watch({"heat"}, at_s(99)), watts = w.watch({"rapl_power_watts"}, at_s(99));
    REQUIRE(w.apply(n, batch_at(c, at_s(100), {{0, 605}, {1, 500}, {2, 70}}), 0s, at_s(100)).has_value());
    CHECK(heat.values->load(n).value == decimal{1175, -4});
    const auto interest = w.interest_version();

    told.clear();
    w.set_names(second, at_s(101));
    CHECK(heat.values->load(n).value == decimal{500, -1});
    REQUIRE(told.size() == 1);
    CHECK(told[0].first == index(heat.id));
    CHECK(w.interest_version() != interest);
    for (const int at : {102, 103}) {
      const auto b = batch_at(c, at_s(at), {{0, 605}, {1, at == 102 ? 600 : 700}, {2, 70}});
      REQUIRE(w.apply(n, b, 0s, at_s(at)).has_value());
    }
    // Two seconds of 60 W and one of 70 W: the window that the name carries now.
    CHECK(heat.values->load(n).value == decimal{6333, -2});
    CHECK(watts.values->load(n).value == decimal{1375, -1});

    told.clear();
    w.set_names(second, at_s(111));
    CHECK(told.empty());
    w.set_names(metrics::alias_table::built_in(), at_s(112));  // no alias any more
    CHECK(heat.values->load(n).reason == wire::absence::missing);
  }

  // The names of exporters are old names too: where a user's file brings the metric itself, that one is
  // meant.
  TEST_CASE("a node's own metric wins over an alias of its name, at that node") {
    warehouse w;
    const auto column = w.watch({"load1"}, at_s(1));
    const wire::catalog own =
        catalog_builder().group("os").series("os_load1", {}, -2).group("textfile").series("load1");
    const wire::catalog plain = catalog_builder().group("os").series("os_load1", {}, -2);
    const node_id a = w.node("a").value(), b = w.node("b").value();
    REQUIRE(w.set_catalog(a, own, at_s(1)).has_value());
    REQUIRE(w.set_catalog(b, plain, at_s(1)).has_value());
    REQUIRE(w.apply(a, batch_at(own, at_s(2), {{0, 150}, {1, 7}}), 0s, at_s(2)).has_value());
    REQUIRE(w.apply(b, batch_at(plain, at_s(2), {{0, 150}}), 0s, at_s(2)).has_value());
    CHECK(column.values->load(a).value == decimal{7, 0});
    CHECK(column.values->load(b).value == decimal{150, -2});
  }

  TEST_CASE("old names in other units come out in those") {
    warehouse w;
    const auto pages = w.watch({"collectd_hugepages_vmpage_number"}, at_s(1));
    const auto jiffies = w.watch({"collectd_cpu_total"}, at_s(1));
    const wire::catalog c =
        catalog_builder()
            .group("os")
            .series("os_hugepages_free_pages", {{"size", "2048kB"}})
            .series("os_hugepages_free_pages", {{"size", "1048576kB"}})
            .series("os_cpu_seconds_total", {{"mode", "user"}}, -2, metrics::kind::counter)
            .series("os_cpu_seconds_total", {{"mode", "idle"}}, -2, metrics::kind::counter);
    const node_id n = w.node("a").value();
    REQUIRE(w.set_catalog(n, c, at_s(1)).has_value());
    REQUIRE(w.apply(n, batch_at(c, at_s(2), {{0, 1200}, {1, 512}, {2, 12345}, {3, 99999}}), 0s, at_s(2))
                .has_value());
    CHECK(pages.values->load(n).value == decimal{1200, 0});
    CHECK(jiffies.values->load(n).value == decimal{12345, 0});
  }
}

TEST_SUITE("aggregator/store/warehouse/windows") {
  TEST_CASE("a window gives the mean of what came, aged like its newest sample") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts_0", 10s, statistic::avg}, at_s(99));
    b.send_watts(100, 600);
    CHECK(column.values->load(b.node).value == decimal{600, -1});
    b.send_watts(101, 610);
    b.send_watts(103, 640);
    const sample s = column.values->load(b.node);
    CHECK(s.value == decimal{630, -1});  // (61.0 × 1 s + 64.0 × 2 s) / 3 s
    CHECK(s.read_at == at_s(103));
    CHECK(s.expires_at == at_s(113));
  }

  TEST_CASE("the energy counters decide once they are fine enough") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts", 20s, statistic::avg}, at_s(99));
    b.send(100, {{0, 0}, {1, 0}, {2, 0}, {5, 1000}, {6, 2000}, {7, 300}});
    b.send(110, {{0, 1}, {1, 1}, {2, 1}, {5, 1600}, {6, 2500}, {7, 371}});
    CHECK(column.values->load(b.node).value == decimal{1171, -1});  // 1171 J in 10 s
  }

  TEST_CASE("an old collectd name carries its ten-second mean, unless the rule gives a window") {
    bench b;
    const auto mean = b.store.watch({"collectd_package_0_power_power"}, at_s(99));
    const auto top = b.store.watch({"collectd_package_0_power_power", 10s, statistic::max}, at_s(99));
    b.send_watts(100, 600);
    b.send_watts(101, 700);
    b.send_watts(102, 500);
    CHECK(mean.values->load(b.node).value == decimal{600, -1});
    CHECK(top.values->load(b.node).value == decimal{700, -1});
  }

  TEST_CASE("one failed read leaves the window's value to age; nothing fresh makes it absent") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts_0", 60s, statistic::max}, at_s(99));
    b.send_watts(100, 600);
    const auto fail = [&](double t) {
      auto failed = batch_at(b.catalog, at_s(t));
      failed.absences.push_back({0, wire::absence::timeout});
      REQUIRE(b.store.apply(b.node, failed, 0s, at_s(t)).has_value());
    };
    fail(101);
    CHECK(column.values->load(b.node).value == decimal{600, -1});
    CHECK(column.values->load(b.node).read_at == at_s(100));
    CHECK(column.values->load(b.node).absent_because(at_s(110)) == wire::absence::stale);
    fail(110);
    CHECK(column.values->load(b.node).reason == wire::absence::timeout);
    b.send_watts(111, 500);
    CHECK(column.values->load(b.node).value == decimal{600, -1});  // 60.0 was 11 s ago: still in the window
    b.send_watts(160, 400);
    CHECK(column.values->load(b.node).value == decimal{500, -1});
  }

  TEST_CASE("a trend is absent until there are two points") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts_0", 60s, statistic::trend}, at_s(99));
    b.send_watts(100, 600);
    CHECK(column.values->load(b.node).reason == wire::absence::not_read_yet);
    b.send_watts(102, 650);
    CHECK(column.values->load(b.node).value == decimal{25, -1});
  }

  TEST_CASE("a percentage's mean is scaled after it is taken") {
    bench b;
    const auto column = b.store.watch({"node_package_power_avg"}, at_s(99));
    b.send(100, {{10, 2000}, {11, 4000}});
    b.send(101, {{10, 2001}, {11, 4002}});
    CHECK(column.values->load(b.node).value == decimal{30015, -3});
  }

  TEST_CASE("a catalogue with other counters does not count their difference as energy") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts", 60s, statistic::avg}, at_s(99));
    catalog_builder without = two_packages();
    without.made.series.erase(without.made.series.begin() + 7);
    without.made.series.erase(without.made.series.begin() + 2);
    b.catalog = without;
    REQUIRE(b.store.set_catalog(b.node, b.catalog, at_s(99)).has_value());
    b.send(100, {{0, 600}, {1, 500}, {4, 1000}, {5, 1000}});
    b.send(120, {{0, 600}, {1, 500}, {4, 2200}, {5, 2000}});
    CHECK(column.values->load(b.node).value == decimal{1100, -1});
    // DRAM appears, with a million joules on its counter.
    b.catalog = two_packages();
    b.catalog.version = 2;
    REQUIRE(b.store.set_catalog(b.node, b.catalog, at_s(121)).has_value());
    b.send(121, {{0, 600}, {1, 500}, {2, 70}, {5, 2260}, {6, 2050}, {7, 1'000'000}});
    CHECK(to_double(column.values->load(b.node).value) < 118);
  }

  TEST_CASE("a clock that went far back starts the window anew, a little leaves out a point") {
    bench b;
    const auto column = b.store.watch({"rapl_power_watts_0", 10s, statistic::max}, at_s(99));
    b.send_watts(196, 900);
    b.send_watts(195.5, 950);
    CHECK(column.values->load(b.node).value == decimal{900, -1});
    b.send_watts(184, 500);
    CHECK(column.values->load(b.node).value == decimal{500, -1});
    b.send_watts(185, 400);
    CHECK(column.values->load(b.node).value == decimal{500, -1});
  }
}

}  // namespace binnacle::store
