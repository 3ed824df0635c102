#include "aggregator/extender/watts_loop.hpp"
#include "aggregator/policy/policy.hpp"
#include "aggregator/policy/power_terms.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace last_watts_test {

using namespace binnacle;

constexpr std::uint32_t nodes = 60;

/// Nodes with loads, models and pods in flight, of which a pod may ask again and again.
struct world {
  world() {
    column->set_plausible({0, 1, 0});
    for (std::uint32_t i = 0; i < nodes; ++i) {
      load(i);
      model(i);
    }
  }
  std::uint32_t any(std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); }

  /// Another load: nearly always one that can be.
  void load(std::uint32_t node) {
    store::sample s;
    s.value = {static_cast<std::int64_t>(any(20) == 0 ? 20'000 : any(10'001)), -4};
    s.read_at = now;
    s.expires_at = now + std::chrono::seconds(10);
    s.reason = any(20) == 0 ? absence::not_read_yet : absence::none;
    column->store(store::node_id{node}, s);
  }
  /// Another model, or none.
  void model(std::uint32_t node) {
    if (any(10) == 0) return models.set(node, nullptr);
    std::vector<double> watts{50.0 + any(50)};
    for (int i = 0; i < 10; ++i) watts.push_back(watts.back() + any(30));
    predict::model m{predict::curve::through(watts, any(2) == 0 ? 32 : 64).value()};
    m.covered = 0.01 * any(100);
    m.made = now;
    models.set(node, std::make_shared<const predict::model>(std::move(m)));
  }

  struct answer {
    extender::watts_answer watts;
    std::vector<decision::candidate> candidates;
  };
  /// What a pod of `cores` costs on all of `asked`, of which the record lists the first `listed`.
  answer ask(predict::chord_table& table, predict::objective by, double cores,
             const std::vector<store::node_id>& asked, std::size_t listed) {
    answer out;
    std::vector<decision::cell> loads;
    for (const store::node_id id : asked) {
      out.candidates.push_back({.id = id});
      if (loads.size() == listed) continue;
      const store::sample s = id == decision::no_node ? store::sample() : rule.load(id);
      decision::cell c;
      c.mantissa = s.value.mantissa;
      c.exponent = s.value.exponent;
      c.reason = s.absent_because(now);
      loads.push_back(c);
    }
    const predict::pod_cpu cpu{{{predict::container_cpu::kind::app, cores, 2 * cores}}};
    const auto known = table.up_to(0.9, {{&models}});
    out.watts = extender::watts_of(
        {by, predict::demand_of(cpu, usage, by), usage, rule, known, in_flight, now}, loads, out.candidates);
    return out;
  }

  std::mt19937 random{7};
  instant now = from_ns(1'000'000'000'000);
  double usage = 1;
  std::shared_ptr<store::shared_column> column =
      std::make_shared<store::shared_column>(store::column_spec{std::string(policy::load_metric), {}, {}});
  policy::published_rule rule{policy::power_rules().front(), "", column};
  predict::model_table models;
  std::vector<extender::placements::unseen> in_flight = std::vector<extender::placements::unseen>(nodes / 2);
};

void check_same(const world::answer& a, const world::answer& b) {
  CHECK(a.watts.opinions == b.watts.opinions);
  CHECK(a.watts.figures == b.watts.figures);
  CHECK(a.watts.implausible == b.watts.implausible);
  const auto same_cost = [](const predict::cost& x, const predict::cost& y) {
    return x.is == y.is && x.watts == y.watts;
  };
  CHECK(std::ranges::equal(a.watts.costs, b.watts.costs, same_cost));
  const auto same_cell = [](const decision::watts_cell& x, const decision::watts_cell& y) {
    return x.now == y.now && x.with == y.with && x.per_core == y.per_core && x.load == y.load &&
           x.in_flight == y.in_flight && x.is == y.is && x.model.made_s == y.model.made_s &&
           x.model.covered_percent == y.model.covered_percent;
  };
  CHECK(std::ranges::equal(a.watts.cells, b.watts.cells, same_cell));
  CHECK(std::ranges::equal(a.candidates, b.candidates, {}, &decision::candidate::what,
                           &decision::candidate::what));
}

TEST_SUITE("aggregator/extender/last_watts") {
  TEST_CASE("answers that are kept are those that would be computed, whatever changes between the calls") {
    world w;
    predict::chord_table kept;
    auto by = predict::objective::best_chord;
    double cores = 1;
    std::vector<store::node_id> asked;
    for (std::uint32_t i = 0; i < nodes + 5; ++i) asked.push_back(store::node_id{i});
    asked.push_back(decision::no_node);
    for (int round = 0; round < 3000; ++round) {
      CAPTURE(round);
      for (std::uint32_t i = w.any(4); i > 0; --i) w.load(w.any(nodes));
      if (w.any(3) == 0) w.model(w.any(nodes));
      if (w.any(3) == 0) w.in_flight[w.any(nodes / 2)].cores = w.any(3);
      if (w.any(8) == 0) cores = 0.5 * w.any(4);
      if (w.any(40) == 0) w.usage = w.usage == 1 ? 0.5 : 1;
      if (w.any(40) == 0) by = static_cast<predict::objective>(w.any(4));
      if (w.any(500) == 0) w.models.clear();
      std::ranges::shuffle(asked, w.random);
      const std::size_t listed = w.any(2) == 0 ? asked.size() : w.any(nodes);
      predict::chord_table fresh;
      check_same(w.ask(kept, by, cores, asked, listed), w.ask(fresh, by, cores, asked, listed));
    }
  }

  TEST_CASE("an answer is kept from the second equal question on, until one of its grounds changes") {
    world w;
    predict::chord_table kept;
    w.model(3);
    while (w.models.find(3) == nullptr) w.model(3);
    const auto loaded = [&](std::int64_t share) {
      store::sample s;
      s.value = {share, -1};
      s.expires_at = w.now + std::chrono::seconds(10);
      s.reason = absence::none;
      w.column->store(store::node_id{3}, s);
    };
    loaded(2);
    const auto watts = [&](double cores) {
      return w.ask(kept, predict::objective::best_chord, cores, {store::node_id{3}}, 1)
          .watts.costs.front()
          .watts;
    };
    const double honest = watts(2);
    // Whatever is written in place of the kept answer comes back only if that answer is taken.
    const auto mark = [&] { kept.up_to(0.9, {{&w.models}}).last(3)->watts = -1; };
    mark();
    CHECK(watts(2) == honest);
    mark();
    CHECK(watts(2) == -1);
    CHECK(watts(3) > honest);
    CHECK(watts(2) == honest);
    CHECK(watts(2) == honest);
    mark();
    CHECK(watts(2) == -1);
    SUBCASE("its load") { loaded(3); }
    SUBCASE("its pods in flight") { w.in_flight[3].cores = 1; }
    SUBCASE("its model, even if it says the same") {
      w.models.set(3, std::make_shared<const predict::model>(*w.models.find(3)));
    }
    SUBCASE("the share of its request that a pod uses") {
      w.usage = 0.5;
      CHECK(watts(2) > 0);
    }
    CHECK(watts(2) > 0);
  }
}

}  // namespace last_watts_test
