#include "aggregator/policy/engine/strategy_run.hpp"

#include "tests/aggregator/policy/world.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace strategy_run_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace std::chrono_literals;

namespace {

constexpr instant start{1h};
constexpr store::node_id a{0}, b{1}, c{2};

rule above(std::int64_t target, std::string metric = "temp") {
  return {.metric = std::move(metric), .op = comparison::greater_than, .target = from_integer(target)};
}

/// One run by itself, without an engine: the test is its clock and its store.
struct bench {
  explicit bench(strategy s) : run({"default", "p"}, s, columns_for(s), 7) {
    out.known_nodes = 3;
    for (std::size_t r = 0; r < s.rules.size(); ++r) run.set_patience(r, 30s);
  }
  static strategy_run::columns columns_for(const strategy& s) {
    strategy_run::columns all;
    for (const rule& r : s.rules) all.push_back(std::make_shared<const store::shared_column>(r.column()));
    return all;
  }

  void value(store::node_id node, std::int64_t v, std::size_t rule = 0) {
    run.observe(rule, node,
                {.value = {v, 0}, .read_at = now, .expires_at = now + 1h, .reason = absence::none});
    run.judge(node, now, out);
  }
  void lose(store::node_id node, std::size_t rule = 0) {
    run.lose(rule, node);
    run.judge(node, now, out);
  }
  void carries(store::node_id node, const std::map<std::string, std::string>& labels) {
    run.inherit(node, labels, now, out);
  }
  state what(store::node_id node) const { return run.verdicts()->load(node).what; }
  /// The wish for the label of deschedule: "set", "remove", "keep" or "blocked"; empty if there is none.
  std::string wish(store::node_id node) const {
    label_wishes all;
    run.wishes(node, all);
    if (all.empty()) return {};
    switch (all.begin()->second.what) {
      case label_wish::action::set: return "set";
      case label_wish::action::remove: return "remove";
      case label_wish::action::keep: return "keep";
      case label_wish::action::blocked: return "blocked";
    }
    return "?";
  }
  /// Takes out the next deadline of this kind.
  std::optional<deadline> next(due kind) {
    while (const auto d = out.due.pop(instant::max())) {
      if (d->what == kind) return d;
    }
    return std::nullopt;
  }

  strategy_run run;
  run_context out;
  instant now = start;
};

strategy evict(std::optional<node_limit> most = {}, duration cool_down = {}) {
  return {.kind = strategy_kind::deschedule, .rules = {above(80)}, .max_nodes = most, .cool_down = cool_down};
}
const std::map<std::string, std::string> labelled{{"p", "violating"}};

}  // namespace

TEST_SUITE("aggregator/policy/engine/strategy_run") {
  TEST_CASE("a verdict stands in its cell, is counted, and is reported when it begins and when it ends") {
    bench x({.kind = strategy_kind::dontschedule, .rules = {above(80)}});
    x.value(a, 90);
    x.value(b, 10);
    CHECK(x.what(a) == state::violating);
    CHECK(x.what(b) == state::pass);
    CHECK(x.run.count(state::violating) == 1);
    CHECK(x.run.count(state::pass) == 1);
    CHECK(x.run.violated_by() == 1);
    REQUIRE(x.out.events.size() == 1);
    CHECK(x.out.events[0].what == event_kind::violating);
    CHECK(x.out.events[0].message == "dontschedule is violated: temp GreaterThan 80");

    x.value(a, 95);
    CHECK_MESSAGE(x.out.events.size() == 1, "it violates as before");
    x.value(a, 70);
    REQUIRE(x.out.events.size() == 2);
    CHECK(x.out.events[1].message == "dontschedule is no longer violated");
    CHECK(x.run.count(state::pass) == 2);
    CHECK(x.out.counters.judged == 4);
  }

  TEST_CASE("the events of a dry run say that it is one") {
    bench x({.kind = strategy_kind::dontschedule, .rules = {above(80)}});
    x.run.set_dry_run(true);
    x.value(a, 90);
    CHECK(x.out.events.at(0).dry_run);
  }

  TEST_CASE("missing data rejects only after reject_missing()") {
    bench x({.kind = strategy_kind::dontschedule, .rules = {above(80)}, .on_missing = missing::reject});
    x.lose(a);
    CHECK(x.what(a) == state::pass);
    x.run.reject_missing();
    x.run.judge(a, x.now, x.out);
    CHECK(x.what(a) == state::missing);
    CHECK(x.run.count(state::missing) == 1);
  }

  TEST_CASE("a strategy that ranks nodes judges none") {
    bench x({.kind = strategy_kind::scheduleonmetric, .rules = {above(0)}});
    x.value(a, 90);
    CHECK(x.what(a) == state::pass);
    CHECK(x.out.counters.judged == 0);
    CHECK(x.out.events.empty());
  }

  TEST_CASE("no label is touched before the node's first value") {
    bench x(evict());
    x.run.lose(0, a);
    x.run.judge(a, x.now, x.out);
    CHECK(x.wish(a) == "keep");
    x.value(a, 90);
    CHECK(x.wish(a) == "set");
    x.value(a, 10);
    CHECK(x.wish(a) == "remove");
    CHECK_MESSAGE(x.wish(b).empty(), "nobody has named that node");
  }

  TEST_CASE("data that goes missing freezes what was, and the slot of the node with it") {
    bench x(evict(node_limit{1}));
    x.value(a, 90);
    x.value(b, 90);
    x.lose(a);
    CHECK(x.what(a) == state::frozen);
    CHECK(x.wish(a) == "set");
    CHECK(x.what(b) == state::held);
    CHECK(x.run.violated_by() == 2);
  }

  TEST_CASE("a slot is free when the label is off, not when the node violates no longer") {
    bench x(evict(node_limit{1}));
    x.value(a, 90);
    x.value(b, 90);
    CHECK(x.what(a) == state::violating);
    CHECK(x.what(b) == state::held);
    x.carries(a, labelled);
    x.value(a, 10);
    CHECK(x.wish(a) == "remove");
    CHECK_MESSAGE(x.what(b) == state::held, "a's label is still there");
    CHECK(x.run.budget().used() == 1);
    x.carries(a, {});
    CHECK(x.what(b) == state::violating);
    CHECK(x.wish(b) == "set");
  }

  TEST_CASE("a node that goes leaves its slot to the one that has waited longest") {
    bench x(evict(node_limit{1}));
    for (const auto n : {a, c, b}) x.value(n, 90);
    x.run.forget(a, x.now, x.out);
    CHECK(x.what(a) == state::pass);
    CHECK(x.what(c) == state::violating);
    CHECK(x.what(b) == state::held);
    CHECK(x.run.count(state::violating) == 1);
    CHECK(x.run.count(state::held) == 1);
    CHECK(x.run.count(state::pass) == 0);
  }

  TEST_CASE("the end of a cool-down is a deadline, asked for once") {
    bench x(evict({}, 60s));
    x.value(a, 90);
    x.now += 10s;
    x.value(b, 90);
    x.value(c, 90);
    const auto d = x.next(due::cool_down);
    REQUIRE(d.has_value());
    CHECK(d->at == start + 60s);
    CHECK(d->owner == 7);
    CHECK(x.next(due::cool_down) == std::nullopt);

    x.now = d->at;
    x.run.serve_waiting(x.now, x.out);
    CHECK(x.what(b) == state::violating);
    CHECK(x.what(c) == state::held);
    CHECK(x.next(due::cool_down)->at == start + 120s);
  }

  TEST_CASE("a rule whose values never come is waited for, then it counts as off") {
    bench x({.kind = strategy_kind::deschedule, .op = logic::all_of, .rules = {above(80), above(5, "load")}});
    x.carries(a, labelled);
    x.value(a, 10);
    CHECK(x.wish(a) == "remove");  // with all_of one rule that is off is enough

    bench y({.kind = strategy_kind::deschedule, .rules = {above(80), above(5, "load")}});
    y.carries(a, labelled);
    y.value(a, 10);
    CHECK_MESSAGE(y.wish(a) == "set", "load may be why it was labelled");
    const auto d = y.next(due::give_up);
    REQUIRE(d.has_value());
    CHECK(d->at == start + 30s);
    CHECK(d->node == a);
    y.now = d->at;
    y.run.give_up(a, y.now, y.out);
    CHECK(y.wish(a) == "remove");
  }

  TEST_CASE("after a restart the label on the node says what was, until values do") {
    bench x(evict(node_limit{1}));
    x.carries(a, labelled);
    CHECK(x.run.budget().used() == 1);
    CHECK(x.what(a) == state::frozen);
    CHECK_MESSAGE(x.wish(a) == "keep", "no value yet");
    x.value(b, 90);
    CHECK(x.what(b) == state::held);
    x.value(a, 90);
    CHECK(x.what(a) == state::violating);
    CHECK(x.wish(a) == "set");
  }

  TEST_CASE("a label of somebody else's under the key is left alone and takes no slot") {
    bench x(evict(node_limit{1}));
    x.out.taken[a] = {"p"};
    x.value(a, 90);
    CHECK(x.what(a) == state::violating);
    CHECK(x.wish(a) == "blocked");
    CHECK(x.run.budget().used() == 0);
    x.value(b, 90);
    CHECK(x.wish(b) == "set");
    x.out.taken.erase(a);
    x.run.judge(a, x.now, x.out);
    CHECK(x.what(a) == state::held);
  }

  TEST_CASE("where another process writes the labels, a slot is a label that is seen") {
    bench x(evict(node_limit{1}));
    x.value(a, 90);
    CHECK(x.run.budget().used() == 1);
    x.run.set_writes_labels(false, x.now, x.out);
    CHECK_FALSE(x.run.writes_labels());
    CHECK(x.run.budget().used() == 0);
    CHECK(x.what(a) == state::held);
    x.carries(b, labelled);
    CHECK(x.run.budget().used() == 1);
    x.carries(b, {});
    x.run.set_writes_labels(true, x.now, x.out);
    CHECK(x.what(a) == state::violating);
  }

  TEST_CASE("where nothing bounds the labels, it does not matter who writes them") {
    bench x(evict());
    x.run.set_writes_labels(false, x.now, x.out);
    CHECK(x.run.writes_labels());
  }

  TEST_CASE("an edited strategy goes on from what the old one knew") {
    bench x(evict(node_limit{2}));
    for (const auto n : {a, b}) x.value(n, 90);
    SUBCASE("with another target: labels stay until values clear them") {
      strategy edited = evict(node_limit{2});
      edited.rules = {above(95)};
      bench y(edited);
      y.run.carry_over(x.run, 3);
      CHECK(y.run.budget().used() == 2);
      y.run.judge(a, y.now, y.out);
      CHECK(y.wish(a) == "set");
      y.value(a, 90);
      CHECK(y.wish(a) == "remove");
    }
    SUBCASE("with fewer slots: those beyond them wait") {
      bench y(evict(node_limit{1}));
      y.run.carry_over(x.run, 3);
      CHECK(y.run.budget().used() == 1);
      for (const auto n : {a, b}) y.value(n, 90);
      CHECK(y.what(a) == state::violating);
      CHECK(y.what(b) == state::held);
    }
    SUBCASE("with another metric: nothing is known of it") {
      strategy edited = evict(node_limit{2});
      edited.rules = {above(80, "load")};
      bench y(edited);
      y.run.carry_over(x.run, 3);
      y.value(a, 10);
      CHECK(y.wish(a) == "remove");
    }
  }

  TEST_CASE("of two rules that give one label the larger value wins, and each node's winner is its own") {
    strategy s{.kind = strategy_kind::labeling, .rules = {above(50), above(50, "load")}};
    s.rules[0].labels = {{"why", "hot"}};
    s.rules[1].labels = {{"why", "busy"}};
    std::vector<std::shared_ptr<store::shared_column>> values;
    for (const rule& r : s.rules) values.push_back(std::make_shared<store::shared_column>(r.column()));
    strategy_run run({"default", "p"}, s, {values[0], values[1]}, 1);
    run_context out;
    const auto set = [&](store::node_id node, std::size_t rule, std::int64_t v) {
      const store::sample seen{
          .value = {v, 0}, .read_at = start, .expires_at = start + 1h, .reason = absence::none};
      values[rule]->store(node, seen);
      run.observe(rule, node, seen);
      run.judge(node, start, out);
    };
    const auto label = [&](store::node_id node) {
      label_wishes all;
      run.wishes(node, all);
      return all.at("telemetry.aware.scheduling.p/why").value;
    };
    set(a, 0, 60);
    set(a, 1, 70);
    set(b, 0, 90);
    set(b, 1, 70);
    CHECK(label(a) == "busy");
    CHECK(label(b) == "hot");
    set(a, 1, 10);
    CHECK(label(a) == "hot");
  }
}

}  // namespace strategy_run_test
