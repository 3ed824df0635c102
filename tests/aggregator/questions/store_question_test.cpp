#include "aggregator/questions/store_question.hpp"

#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace store_question_test {

using namespace binnacle;
using namespace binnacle::questions;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using store::at_s;

namespace {

/// Stands for the ingest loop. It carries out an order when the test says so.
struct fake_ingest {
  struct order {
    store::column_spec spec;
    std::function<void(watched_columns::started)> done;
  };
  std::vector<order> orders;
  std::vector<std::uint32_t> stopped;
  watched_columns windows{
      [this](const store::column_spec& spec, std::function<void(watched_columns::started)> done) {
        orders.push_back({spec, std::move(done)});
      },
      [this](store::column_id id) { stopped.push_back(store::index(id)); }};

  std::shared_ptr<store::shared_column> answer(std::size_t i, std::uint32_t id) {
    auto column = std::make_shared<store::shared_column>(orders[i].spec);
    orders[i].done({store::column_id{id}, column});
    return column;
  }
};

/// One node with two packages (60.0 W and 55.0 W, 7.1 W of DRAM), read at 100 s, every second.
store::node_view warm_node() {
  const wire::catalog c = store::two_packages();
  auto cells =
      std::make_shared<store::row>(std::make_shared<const store::shape>(store::make_shape(c, {})->what));
  const std::vector<std::int64_t> mantissas = {600,  550, 71,   400,  9999, 1000,
                                               2000, 300, 2050, 1650, 2927, 3333};
  for (std::size_t i = 0; i < mantissas.size(); ++i) cells->set_value(i, mantissas[i]);
  cells->set_read(0, at_s(100));
  store::node_view node;
  node.id = store::node_id{3};
  node.name = "n1";
  node.cells = cells;
  return node;
}

/// A node with a shape of its own and 200 pods of 0.0 to 19.9 W, read at 100 s.
store::node_view node_with_pods(std::uint32_t id) {
  auto c = store::catalog_builder().group("textfile");
  for (int pod = 0; pod < 200; ++pod)
    c.series("pod_power_watts", {{"pod_uid", "pod-" + std::to_string(pod)}}, -1);
  auto cells =
      std::make_shared<store::row>(std::make_shared<const store::shape>(store::make_shape(c, {})->what));
  for (std::size_t pod = 0; pod < 200; ++pod) cells->set_value(pod, static_cast<std::int64_t>(pod));
  cells->set_read(0, at_s(100));
  store::node_view node;
  node.id = store::node_id{id};
  node.name = "n" + std::to_string(id);
  node.cells = cells;
  return node;
}

reading ask(fake_ingest& ingest, const store::node_view& node, std::string_view metric,
            std::string_view series = {}) {
  return ask_store(ingest.windows)(metric, *selector::parse(series))(node, at_s(101));
}

}  // namespace

TEST_SUITE("aggregator/questions/store_question") {
  TEST_CASE("a metric is what policies compare, with the sampling period as its span") {
    fake_ingest ingest;
    const auto node = warm_node();
    const reading r = ask(ingest, node, "rapl_power_watts");
    CHECK(r.value.value == decimal{1221, -1});
    CHECK(r.value.read_at == at_s(100));
    CHECK(r.span == seconds(1));
    CHECK(ask(ingest, node, "rapl_power_watts_1").value.value == decimal{550, -1});
    CHECK(ask(ingest, node, "no_such_metric").value.reason == absence::missing);
    CHECK(ingest.orders.empty());
  }

  TEST_CASE("a selector takes the series of the family that have the labels") {
    fake_ingest ingest;
    const auto node = warm_node();
    CHECK(ask(ingest, node, "rapl_power_watts", "package=1").value.value == decimal{550, -1});
    CHECK(ask(ingest, node, "rapl_power_watts", "package in (0,1)").value.value == decimal{1150, -1});
    CHECK(ask(ingest, node, "rapl_zone_power_watts", "zone=core").value.value == decimal{400, -1});
    CHECK(ask(ingest, node, "rapl_zone_power_watts", "zone=psys,!package").value.value == decimal{9999, -1});
    CHECK(ask(ingest, node, "rapl_power_watts", "package=9").value.reason == absence::missing);
  }

  TEST_CASE("what was worked out for one catalog is not used for another") {
    fake_ingest ingest;
    const auto maker = ask_store(ingest.windows);
    for (int i = 0; i < 200; ++i) {
      CAPTURE(i);
      const auto node = warm_node();  // has its own shape; a later shape may get the same address
      CHECK(maker("rapl_power_watts", {})(node, at_s(101)).value.value == decimal{1221, -1});
      store::node_view other;
      const wire::catalog c = store::catalog_builder()
                                  .group("textfile")
                                  .series("pad")
                                  .series("rapl_power_watts", {{"package", "0"}}, -1);
      auto cells =
          std::make_shared<store::row>(std::make_shared<const store::shape>(store::make_shape(c, {})->what));
      cells->set_value(1, 77);
      cells->set_read(0, at_s(100));
      other.cells = cells;
      CHECK(maker("rapl_power_watts", {})(other, at_s(101)).value.value == decimal{77, -1});
    }
  }

  TEST_CASE("a name is asked by the aliases in force") {
    fake_ingest ingest;
    const auto node = warm_node();
    const auto table = [](double scale) {
      auto made = std::make_shared<metrics::alias_table>();
      made->add({.name = "heat", .family = "rapl_power_watts", .scale = scale, .note = "test"});
      return made;
    };
    metrics::names_in_force names(table(1));
    const auto maker = ask_store(ingest.windows, names);
    const auto asked_before = maker("heat", {});
    CHECK(asked_before(node, at_s(101)).value.value == decimal{1221, -1});
    names.replace(table(0.001));
    CHECK(maker("heat", {})(node, at_s(101)).value.value == decimal{1221, -4});
    CHECK(asked_before(node, at_s(101)).value.value == decimal{1221, -1});
  }

  TEST_CASE("many questions about nodes that each have hundreds of pods' series stay in bounded memory") {
    constexpr std::size_t most_bytes = 1u << 20, least_bytes_of_a_plan = 200 * 16;
    fake_ingest ingest;
    const auto maker = ask_store(ingest.windows, metrics::names_in_force::built_in(), most_bytes);
    std::vector<store::node_view> nodes;
    const auto add_nodes = [&](std::uint32_t count) {
      for (std::uint32_t n = 0; n < count; ++n) nodes.push_back(node_with_pods(n));
    };
    std::size_t known = 0;
    // Whether the meaning was known shows whether it was kept.
    const auto ask_all = [&](const std::string& series) {
      const auto question = maker("pod_power_watts", *selector::parse(series));
      for (const store::node_view& node : nodes) {
        const reading r = question(node, at_s(101));
        CHECK(r.value.value == decimal{199, -1});
        if (r.looked_at == 0) ++known;
      }
    };
    SUBCASE("sixty selectors") {
      add_nodes(20);
      for (int i = 0; i < 60; ++i) ask_all("pod_uid!=x" + std::to_string(i));
      CHECK(known == 0);
      for (int i = 60; i-- > 0;) ask_all("pod_uid!=x" + std::to_string(i));  // the newest are still kept
    }
    SUBCASE("one selector at many nodes") {
      add_nodes(500);
      ask_all("pod_uid!=x");
      CHECK(known == 0);
      ask_all("pod_uid!=x");
    }
    CHECK(known > 0);
    CHECK(known <= most_bytes / least_bytes_of_a_plan);
  }

  TEST_CASE("a meaning that is asked for again and again stays while others come and go") {
    fake_ingest ingest;
    const auto maker = ask_store(ingest.windows);
    const auto node = warm_node();
    (void)maker("rapl_power_watts", {})(node, at_s(101));
    for (int i = 0; i < 500; ++i) {
      (void)maker("rapl_power_watts", *selector::parse("package!=x" + std::to_string(i)))(node, at_s(101));
      CHECK(maker("rapl_power_watts", {})(node, at_s(101)).looked_at == 0);
    }
  }

  TEST_CASE("a node without a catalog has no value yet") {
    fake_ingest ingest;
    store::node_view node;
    CHECK(ask(ingest, node, "rapl_power_watts").value.reason == absence::not_read_yet);
  }

  TEST_CASE(
      "an old name with a window starts its column and is answered by the value itself until that is there") {
    fake_ingest ingest;
    const auto node = warm_node();
    const reading first = ask(ingest, node, "collectd_package_0_power_power");
    CHECK(first.value.value == decimal{600, -1});
    CHECK(first.span == seconds(1));
    REQUIRE(ingest.orders.size() == 1);
    CHECK(ingest.orders[0].spec.metric == "collectd_package_0_power_power");

    const auto column = ingest.answer(0, 7);
    store::sample mean;
    mean.value = {5821, -2};
    mean.read_at = at_s(100);
    mean.expires_at = at_s(110);
    mean.reason = absence::none;
    column->store(node.id, mean);
    const reading second = ask(ingest, node, "collectd_package_0_power_power");
    CHECK(second.value.value == decimal{5821, -2});
    CHECK(second.span == seconds(10));
    CHECK(ingest.orders.size() == 1);
  }

  TEST_CASE("a selector on an old name is answered without the window") {
    fake_ingest ingest;
    const auto node = warm_node();
    CHECK(ask(ingest, node, "collectd_package_0_power_power", "package=0").value.value == decimal{600, -1});
    CHECK(ingest.orders.empty());
  }
}

TEST_SUITE("aggregator/questions/watched_columns") {
  TEST_CASE("a column ends some time after the last request for it") {
    fake_ingest ingest;
    const store::column_spec spec{"collectd_package_0_power_power", {}, store::statistic::avg};
    const store::column_spec other{"collectd_package_1_power_power", {}, store::statistic::avg};
    CHECK(ingest.windows.get(spec, at_s(0)) == nullptr);
    ingest.answer(0, 7);
    CHECK(ingest.windows.get(spec, at_s(300)) != nullptr);
    ingest.windows.get(other, at_s(899));
    CHECK(ingest.stopped.empty());
    ingest.windows.get(other, at_s(900));
    CHECK(ingest.stopped == std::vector<std::uint32_t>{7});
    CHECK(ingest.windows.size() == 1);
  }

  TEST_CASE("a column ends also when no other request follows: one for an old name kept the fleet at 5 Hz") {
    fake_ingest ingest;
    const store::column_spec spec{"collectd_package_0_power_power", {}, store::statistic::avg};
    ingest.windows.get(spec, at_s(0));
    ingest.windows.end_idle(at_s(601));
    CHECK(ingest.stopped.empty());  // the column is being started
    ingest.answer(0, 7);
    ingest.windows.get(spec, at_s(10));
    ingest.windows.end_idle(at_s(609));
    CHECK(ingest.stopped.empty());
    ingest.windows.end_idle(at_s(610));
    CHECK(ingest.stopped == std::vector<std::uint32_t>{7});
    CHECK(ingest.windows.size() == 0);
  }

  TEST_CASE("only so many are kept") {
    fake_ingest ingest;
    for (std::size_t i = 0; i < 2 * watched_columns::most; ++i) {
      ingest.windows.get({"name_" + std::to_string(i), {}, store::statistic::avg}, at_s(0));
    }
    CHECK(ingest.windows.size() == watched_columns::most);
    CHECK(ingest.orders.size() == watched_columns::most);
  }

  TEST_CASE("at the end every column is ended, also one that arrives later") {
    std::vector<std::uint32_t> stopped;
    std::vector<std::function<void(watched_columns::started)>> waiting;
    {
      watched_columns windows(
          [&](const store::column_spec&, std::function<void(watched_columns::started)> done) {
            waiting.push_back(std::move(done));
          },
          [&](store::column_id id) { stopped.push_back(store::index(id)); });
      windows.get({"a", {}, store::statistic::avg}, at_s(0));
      windows.get({"b", {}, store::statistic::avg}, at_s(0));
      waiting[0]({store::column_id{1}, nullptr});
    }
    CHECK(stopped == std::vector<std::uint32_t>{1});
    waiting[1]({store::column_id{2}, nullptr});
    CHECK(stopped == std::vector<std::uint32_t>{1, 2});
  }
}

}  // namespace store_question_test
