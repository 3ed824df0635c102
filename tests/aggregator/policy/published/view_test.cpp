#include "aggregator/policy/published/view.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace policy_view_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace std::chrono_literals;

namespace {

std::shared_ptr<const predict::model> from(std::string who) {
  predict::model m{predict::curve::through(std::vector<double>{100, 200}, 8).value()};
  m.server = std::move(who);
  return std::make_shared<const predict::model>(std::move(m));
}
std::string chosen(const view& v, power_model m, cpu_format f = cpu_format::percent) {
  const auto found = v.models_for({.model = m, .format = f}).share(3);
  return found == nullptr ? "none" : found->server;
}

TEST_SUITE("aggregator/policy/published/view") {
  TEST_CASE("verdicts count as missing when nobody has kept them up for five seconds") {
    view v;
    CHECK_FALSE(v.judging_stopped(instant(1h)));  // there is no heartbeat
    const auto beats = std::make_shared<heartbeat>();
    v.set_heartbeat(beats);
    CHECK_FALSE(v.judging_stopped(instant(1h)));  // not before the first beat
    beats->beat(instant(1h));
    CHECK_FALSE(v.judging_stopped(instant(1h) + 5s));
    CHECK(v.judging_stopped(instant(1h) + 5001ms));
    CHECK(beats->age(instant(1h) - 1s) == 0s);  // the reader took the time before the beat
    beats->beat(instant(1h) + 6s);
    CHECK_FALSE(v.judging_stopped(instant(1h) + 6s));
  }

  TEST_CASE("a model server's curve is preferred to a learned one, if the policy's terms allow both") {
    view v;
    CHECK(chosen(v, power_model::automatic) == "none");
    v.models().set(3, from("learned"));
    CHECK(chosen(v, power_model::automatic) == "learned");
    CHECK(chosen(v, power_model::external) == "none");
    v.served(cpu_format::percent).set(3, from("served"));
    CHECK(chosen(v, power_model::automatic) == "served");
    CHECK(chosen(v, power_model::external) == "served");
    CHECK(chosen(v, power_model::learned) == "learned");
    // The server gave no curve for this other form of the load.
    CHECK(chosen(v, power_model::automatic, cpu_format::raw) == "learned");
    CHECK(chosen(v, power_model::external, cpu_format::raw) == "none");
    v.forget_served();
    CHECK(chosen(v, power_model::automatic) == "learned");
    v.forget_models(3);
    CHECK(chosen(v, power_model::automatic) == "none");
  }

  TEST_CASE("learned curves count unless all policies with minimizepower say External") {
    view v;
    const auto put = [&v](const std::vector<power_model>& said) {
      auto table = std::make_shared<policy_table>();
      for (const power_model m : said) {
        published_policy p;
        p.key = {"default", std::to_string(table->size())};
        p.strategies.push_back({.kind = strategy_kind::minimizepower});
        p.strategies[0].power.model = m;
        table->emplace(p.key, std::make_shared<const published_policy>(p));
      }
      v.set_policies(std::move(table));
    };
    CHECK(v.learned_counts());
    put({power_model::external});
    CHECK_FALSE(v.learned_counts());
    put({power_model::external, power_model::automatic});
    CHECK(v.learned_counts());
    put({power_model::learned});
    CHECK(v.learned_counts());
  }

  TEST_CASE("a node says why its model server is silent, until the server answers or the node goes") {
    view v;
    CHECK(v.served_note(3).empty());
    v.set_served_note(3, "it answers 500");
    CHECK(v.served_note(3) == "it answers 500");
    v.set_served_note(3, "");
    CHECK(v.served_note(3).empty());
    v.set_served_note(3, "it answers 500");
    v.forget_models(3);
    CHECK(v.served_note(3).empty());
  }

  TEST_CASE("a node says why nothing is learned from its meter, until something is or the node goes") {
    view v;
    v.set_learned_note(3, "it stands still");
    CHECK(v.learned_note(3) == "it stands still");
    CHECK(v.served_note(3).empty());
    v.forget_served();
    CHECK_FALSE(v.learned_note(3).empty());
    v.set_learned_note(3, "");
    CHECK(v.learned_note(3).empty());
    v.set_learned_note(3, "it stands still");
    v.forget_models(3);
    CHECK(v.learned_note(3).empty());
  }
}

}  // namespace

}  // namespace policy_view_test
