#include "aggregator/policy/engine/engine.hpp"
#include "aggregator/policy/text/yaml.hpp"
#include "aggregator/store/warehouse.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>

// The effect on labels and verdicts of a window that is not covered, with the real store and the real engine.
namespace binnacle::window_coverage_test {

using namespace std::chrono_literals;
using namespace policy;

namespace {

using map_of_labels = std::map<std::string, std::string>;

/// The rule of docs/policies.md, as deschedule, labeling and dontschedule have it.
std::string manifest(const std::string& window = "1m", const std::string& statistic = "p95") {
  const std::string rule =
      "metricname: rapl_power_watts_0, operator: GreaterThan, targetQuantity: \"350.5\", "
      "statistic: " +
      statistic + ", window: " + window;
  return "apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: {name: p}\nspec:\n  "
         "strategies:\n"
         "    deschedule: {rules: [{" +
         rule +
         "}]}\n"
         "    dontschedule: {rules: [{" +
         rule +
         "}]}\n"
         "    labeling: {rules: [{" +
         rule + ", labels: [hot=yes]}]}\n";
}

/// Store and engine of one aggregator; agents read once a second.
class aggregator : sink, column_source {
 public:
  void apply(const std::string& text, double t) {
    const parsed_text read = parse_policies("p.yaml", text);
    REQUIRE(read.policies.size() == 1);
    REQUIRE(read.policies[0].refused.empty());
    at(t);
    judge_.set_policies({read.policies[0].value}, now_);
  }
  void node(const std::string& name, double t) {
    at(t);
    REQUIRE(stock_.set_catalog(stock_.node(name).value(), catalog_, now_).has_value());
    judge_.node_added(*stock_.find(name), now_);
  }
  void carries(const std::string& name, const map_of_labels& labels) {
    judge_.set_node_labels(*stock_.find(name), labels, now_);
  }
  /// The node reads `watts` once a second, from second `from` to second `to`, both included.
  void reads(const std::string& name, int from, int to, int watts) {
    for (int t = from; t <= to; ++t) {
      at(t);
      const auto b = store::batch_at(catalog_, now_, {{0, watts * 10}, {1, 10}, {2, 10}});
      REQUIRE(stock_.apply(*stock_.find(name), b, duration::zero(), now_).has_value());
      judge_.tick(now_);
    }
  }
  /// Puts the tests' policy in force; for the first minute one node draws 400 W and another one 100 W.
  void watch_hot_and_cool() {
    apply(manifest(), 1);
    node("hot", 998);
    node("cool", 999);
    for (int t = 1000; t <= 1060; ++t) {
      reads("hot", t, t, 400);
      reads("cool", t, t, 100);
    }
  }
  void at(double t) {
    const instant to = store::at_s(t);
    REQUIRE(to >= now_);
    while (const auto next = judge_.next_deadline()) {
      if (*next > to) break;
      now_ = std::max(now_, *next);
      judge_.tick(now_);
    }
    now_ = to;
    if (stock_.next_deadline() <= now_) stock_.expire(now_);
  }

  /// The label wishes as "p=violating -hot ~r": set p, remove hot, leave r as it is.
  std::string labels(const std::string& name) const {
    std::string out;
    for (const auto& [key, wish] : judge_.labels(*stock_.find(name))) {
      const std::string shown = key.substr(key.rfind('/') + 1);
      using action = label_wish::action;
      out += (out.empty() ? "" : " ") + (wish.what == action::set      ? shown + "=" + wish.value
                                         : wish.what == action::remove ? "-" + shown
                                                                       : "~" + shown);
    }
    return out;
  }
  state what(const std::string& name, strategy_kind kind) const {
    return judge_.table()->begin()->second->find(kind)->verdicts->load(*stock_.find(name)).what;
  }
  bool refuses(const std::string& name) const {
    return what(name, strategy_kind::dontschedule) == state::violating;
  }

 private:
  void happened(const event&) override {}
  void changed(const condition&) override {}
  void relabel(store::node_id) override {}
  void published(std::shared_ptr<const policy_table>) override {}
  watched watch(const store::column_spec& spec, instant now) override {
    const auto made = stock_.watch(spec, now);
    return {made.id, made.values};
  }
  void release(store::column_id id) override { stock_.unwatch(id); }
  duration stale_after(store::column_id id) const override { return stock_.stale_after(id); }
  family_names announced() const override { return stock_.families(); }

  wire::catalog catalog_ = store::two_packages();
  instant now_ = store::at_s(1);
  store::warehouse stock_{{}, [this](store::column_id c, store::node_id n, const store::sample& s) {
                            judge_.update(c, n, s, now_);
                          }};
  engine judge_{*this, *this};
};

const map_of_labels hot{{"p", "violating"}, {"telemetry.aware.scheduling.p/hot", "yes"}};

}  // namespace

TEST_SUITE("integration/window_coverage") {
  TEST_CASE("a new node: one spike labels nothing; dontschedule uses it") {
    aggregator a;
    a.apply(manifest(), 1);
    a.node("n", 999);
    a.carries("n", {});
    a.reads("n", 1000, 1000, 900);
    CHECK(a.labels("n") == "~p ~hot");
    CHECK(a.refuses("n"));
    a.reads("n", 1001, 1047, 100);
    CHECK(a.labels("n") == "~p ~hot");
    a.reads("n", 1048, 1048, 100);  // 48 of 60 seconds: the spike is one of 49 reads
    CHECK(a.labels("n") == "-p -hot");
    CHECK_FALSE(a.refuses("n"));
  }

  TEST_CASE("a node that is hot is labelled as soon as four fifths of the window are known") {
    aggregator a;
    a.apply(manifest(), 1);
    a.node("n", 999);
    a.reads("n", 1000, 1047, 400);
    CHECK(a.labels("n") == "~p ~hot");
    a.reads("n", 1048, 1048, 400);
    CHECK(a.labels("n") == "p=violating hot=yes");
  }

  TEST_CASE("a restart: labels that are there stay until the window knows better, longer than any patience") {
    aggregator a;
    a.apply(manifest("5m"), 1);
    a.node("n", 999);
    a.reads("n", 1000, 1000, 100);  // its values come before its labels are known
    CHECK(a.labels("n") == "~p ~hot");
    a.carries("n", hot);
    for (const int minute : {1, 2, 3}) {
      a.reads("n", 1001 + (minute - 1) * 60, 1000 + minute * 60, 100);
      CHECK_MESSAGE(a.labels("n").find('-') == std::string::npos, a.labels("n"));
    }
    a.reads("n", 1181, 1240, 100);
    CHECK(a.labels("n") == "-p -hot");
  }

  TEST_CASE("an edit to a longer window: what was labelled stays, what was not is not labelled by a spike") {
    aggregator a;
    a.watch_hot_and_cool();
    CHECK(a.labels("hot") == "p=violating hot=yes");
    CHECK(a.labels("cool") == "-p -hot");
    a.apply(manifest("2m"), 1060.5);
    a.reads("hot", 1061, 1061, 100);
    a.reads("cool", 1061, 1061, 900);
    CHECK(a.labels("hot") == "p=violating hot=yes");
    CHECK(a.labels("cool") == "-p -hot");
    CHECK(a.what("hot", strategy_kind::deschedule) == state::frozen);
    CHECK(a.refuses("cool"));
    for (int t = 1062; t <= 1170; ++t) {
      a.reads("hot", t, t, 100);
      a.reads("cool", t, t, 100);
    }
    CHECK(a.labels("hot") == "-p -hot");
    CHECK(a.labels("cool") == "-p -hot");
  }

  TEST_CASE("an outage longer than the window: one value afterwards changes no label, either way") {
    aggregator a;
    a.watch_hot_and_cool();
    a.at(1100);
    CHECK(a.what("hot", strategy_kind::deschedule) == state::frozen);
    a.reads("hot", 1200, 1200, 100);
    a.reads("cool", 1200, 1200, 900);
    CHECK(a.labels("hot") == "p=violating hot=yes");
    CHECK(a.labels("cool") == "-p -hot");
    CHECK(a.what("cool", strategy_kind::deschedule) == state::frozen);
    for (int t = 1201; t <= 1248; ++t) {
      a.reads("hot", t, t, 100);
      a.reads("cool", t, t, 100);
    }
    CHECK(a.labels("hot") == "-p -hot");
    CHECK(a.labels("cool") == "-p -hot");
    CHECK(a.what("cool", strategy_kind::deschedule) == state::pass);
  }

  TEST_CASE("some seconds without a value in a window that is covered change nothing") {
    aggregator a;
    a.apply(manifest(), 1);
    a.node("n", 999);
    a.reads("n", 1000, 1060, 400);
    a.reads("n", 1069, 1069, 400);  // within the stale-after: a late read, no gap
    CHECK(a.what("n", strategy_kind::deschedule) == state::violating);
    a.reads("n", 1081, 1081, 400);  // twelve seconds: a gap of a fifth
    CHECK(a.what("n", strategy_kind::deschedule) == state::violating);
  }
}

}  // namespace binnacle::window_coverage_test
