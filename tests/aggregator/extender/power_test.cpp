#include "aggregator/decision/explain.hpp"
#include "aggregator/policy/power_terms.hpp"
#include "aggregator/predict/rated.hpp"
#include "tests/aggregator/extender/fleet.hpp"
#include "tests/aggregator/extender/go_args.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <array>
#include <map>

namespace extender_power_test {

using namespace binnacle;
using namespace binnacle::test;
using namespace std::chrono_literals;

const std::vector<std::string> names = {"cold", "flat", "new"};

/// Three nodes of 10 cores: "cold" draws least and its watts rise steeply, "flat" draws much and its watts
/// hardly rise, and nothing is known of "new".
struct power_fleet : fleet {
  explicit power_fleet(policy::power_terms terms = {}, policy::missing on_missing = policy::missing::reject,
                       policy::herd_damping damping = policy::herd_damping::enabled,
                       policy::mode how = policy::mode::enforce) {
    model("cold", {50, 100, 150, 200, 250, 300});
    model("flat", {200, 205, 210, 215, 220, 225});
    for (const auto& name : names) load(name, 0.1);
    policy::policy p;
    p.key = {"default", "power"};
    p.how = how;
    p.damping = damping;
    policy::strategy s;
    s.kind = policy::strategy_kind::minimizepower;
    s.rules = policy::power_rules();
    s.power = terms;
    s.on_missing = on_missing;
    p.strategies.push_back(s);
    publish(p);
  }
  void load(const std::string& name, double share, duration age = 180ms) {
    value(name, std::string(policy::load_metric), {std::lround(10'000 * share), -4}, age);
  }
  void model(const std::string& name, std::vector<double> watts, double cores = 10) {
    predict::model m{predict::curve::through(watts, cores).value()};
    m.covered = 0.62;
    m.noise = 0.012;
    m.made = now - 48s;
    data.models().set(store::index(node(name)), std::make_shared<const predict::model>(std::move(m)));
  }
  static std::string pod(const std::string& name, const std::string& cpu) {
    std::string text = pod_json(name, "power");
    const std::string limits = R"("limits":{"telemetry/scheduling":"1"})";
    return text.replace(text.find(limits), limits.size(), limits + R"(,"requests":{"cpu":")" + cpu + "\"}");
  }
  using scores = std::map<std::string, int>;
  scores ask(const std::string& pod_text, const std::vector<std::string>& nodes = names,
             std::size_t piece = 65536) {
    last = prioritize(names_args(pod_text, nodes), piece);
    return last.scores();
  }

  fleet_answer last;
};

/// The curve that a model server gave for a node.
void serve(power_fleet& f, const std::string& name, std::vector<double> watts,
           policy::cpu_format format = policy::cpu_format::percent) {
  predict::model m{predict::curve::through(watts, 10).value()};
  m.from = predict::model_source::server;
  m.made = f.now - 5s;
  f.data.served(format).set(store::index(f.node(name)), std::make_shared<const predict::model>(std::move(m)));
}

TEST_SUITE("aggregator/extender/power") {
  TEST_CASE(
      "a node is scored by its model server's curve if it has one, else by what was learned, and the record "
      "says so") {
    power_fleet f;
    serve(f, "cold", {50, 51, 52, 53, 54, 55});  // flatter than "flat"
    CHECK(f.ask(power_fleet::pod("web", "1")) == power_fleet::scores{{"cold", 10}, {"flat", 2}, {"new", 0}});
    CHECK_MESSAGE(f.told().find("model: its model server's, 5.0s old") != std::string::npos, f.told());
    CHECK_MESSAGE(f.told().find("model: the node's own") != std::string::npos, f.told());
    serve(f, "new", {50, 50, 50, 50, 50, 51});
    CHECK(f.ask(power_fleet::pod("web", "1")).at("new") == 10);
    // A curve that the server gave for another form of the load does not count for this policy.
    power_fleet other;
    serve(other, "cold", {50, 51, 52, 53, 54, 55}, policy::cpu_format::raw);
    CHECK(other.ask(power_fleet::pod("web", "1")).at("cold") == 2);
  }

  TEST_CASE("idle watts that nobody measured are said to be a guess") {
    power_fleet f;
    (void)f.ask(power_fleet::pod("web", "1"));
    CHECK_MESSAGE(f.told().find("guessed") == std::string::npos, f.told());
    predict::model m{predict::curve::through(std::vector<double>{50, 100, 150, 200, 250, 300}, 10).value()};
    m.known_from = 0.2;
    m.made = f.now - 5s;
    f.data.models().set(store::index(f.node("cold")), std::make_shared<const predict::model>(std::move(m)));
    (void)f.ask(power_fleet::pod("web", "1"));
    CHECK_MESSAGE(
        f.told().find("its idle watts guessed, since no such node was ever idle") != std::string::npos,
        f.told());
    CHECK(decision::to_json(f.record(), f.decisions.names()).find(R"("idleGuessed":true)") !=
          std::string::npos);
  }

  TEST_CASE("a node that nobody measured is scored by its rated watts, and the record says so") {
    power_fleet f;
    predict::model m{predict::rated_line(50, 55, 10).value()};
    m.from = predict::model_source::rated;
    m.made = f.now - 5s;
    f.data.models().set(store::index(f.node("new")), std::make_shared<const predict::model>(std::move(m)));
    CHECK(f.ask(power_fleet::pod("web", "1")).at("new") == 10);
    CHECK_MESSAGE(f.told().find("model: a line between its rated watts") != std::string::npos, f.told());
  }

  TEST_CASE("a policy that asks for learned models or for model servers alone gets no others") {
    power_fleet learned({.model = policy::power_model::learned});
    serve(learned, "cold", {50, 51, 52, 53, 54, 55});
    CHECK(learned.ask(power_fleet::pod("web", "1")).at("cold") == 2);
    power_fleet external({.model = policy::power_model::external});
    CHECK_MESSAGE(external.ask(power_fleet::pod("web", "1")).empty(), "no opinion at all, and not 0 for all");
    CHECK_MESSAGE(external.told().find("no model server has said what it draws") != std::string::npos,
                  external.told());
    const auto says_so = [](const power_fleet& f) {
      return decision::to_json(f.record(), f.decisions.names()).find(R"("onlyExternal":true)") !=
             std::string::npos;
    };
    CHECK(says_so(external));
    CHECK_FALSE(says_so(learned));
    serve(external, "cold", {50, 100, 150, 200, 250, 300});
    CHECK(external.ask(power_fleet::pod("web", "1")) ==
          power_fleet::scores{{"cold", 10}, {"flat", 0}, {"new", 0}});
  }

  TEST_CASE("the pod goes where it costs the fewest watts, not where the fewest are drawn") {
    power_fleet f;
    CHECK(f.ask(power_fleet::pod("web", "1")) == power_fleet::scores{{"cold", 2}, {"flat", 10}, {"new", 0}});
    CHECK(f.record().pod_cores == doctest::Approx(1));
    const auto told = f.told();
    CHECK_MESSAGE(
        told.find("flat scores 10: 202.5 W now, 205.0 W with the pod of 1 cores, 2.72 W a core as its price; "
                  "load 1.0 cores, read 180ms ago; model: the node's own, 48.0s old, 62 % of its loads "
                  "measured, ±1.2 %") != std::string::npos,
        told);
    CHECK_MESSAGE(
        told.find("new scores 0: no opinion: nothing is known of its watts yet") != std::string::npos, told);
    CHECK_MESSAGE(told.find("it has no rated ones of use (binnacle power NODE)") != std::string::npos, told);
    const auto json = decision::to_json(f.record(), f.decisions.names());
    CHECK_MESSAGE(
        json.find(R"("wattsNow":202.500,"wattsWithPod":205.000,"wattsPerCore":2.722)") != std::string::npos,
        json);
    CHECK_MESSAGE(json.find(R"("objective":"BestChord")") != std::string::npos, json);
    // By another objective the figure is the slope of the best chord.
    power_fleet other({.objective = predict::objective::marginal});
    (void)other.ask(power_fleet::pod("web", "1"));
    CHECK_MESSAGE(other.told().find("2.50 W a core to the next step; load") != std::string::npos,
                  other.told());
    // Of "new" there is no model: its load in cores is not known, and not 0.
    CHECK_MESSAGE(json.find(R"("power":{"cost":"unknown","inFlightCores":0.000})") != std::string::npos,
                  json);
    CHECK_MESSAGE(json.find(R"("loadCores":0.000)") == std::string::npos, json);
  }

  TEST_CASE("the pod's CPU is read whatever the pieces that the request comes in") {
    for (const std::size_t piece : {1, 7, 100, 65536}) {
      power_fleet f;
      (void)f.ask(power_fleet::pod("web", "2500m"), names, piece);
      CAPTURE(piece);
      CHECK(f.record().pod_cores == doctest::Approx(2.5));
    }
  }

  TEST_CASE("what the policy assumes of a pod's use counts for the pod and for those in flight") {
    power_fleet f({.pod_usage = 0.5});
    (void)f.ask(power_fleet::pod("a", "4"));
    CHECK(f.record().pod_cores == doctest::Approx(2));
    (void)f.ask(power_fleet::pod("b", "4"));
    CHECK_MESSAGE(f.told().find("and 2.0 in flight") != std::string::npos, f.told());
  }

  TEST_CASE("pods just placed fill a node by the cores that they ask for, up to its cap") {
    power_fleet f;
    // The load is 1 core, and the cap is 0.9 x 10 cores: two pods of 4 cores fill the node.
    for (const char* name : {"a", "b"}) CHECK(f.ask(power_fleet::pod(name, "4")).at("flat") == 10);
    const auto scores = f.ask(power_fleet::pod("c", "4"));
    CHECK(scores == power_fleet::scores{{"cold", 10}, {"flat", 1}, {"new", 0}});
    CHECK_MESSAGE(f.told().find("flat scores 1: the pod of 4 cores would fill it beyond 90 % load; load 1.0 "
                                "cores, read 180ms ago, and 8.0 in flight") != std::string::npos,
                  f.told());
    // If kube-scheduler asks again for a pod, that pod is not counted as in flight.
    CHECK(f.ask(power_fleet::pod("b", "4")).at("flat") == 10);
  }

  TEST_CASE("pods of one name are two pods where their uids differ, as in two namespaces") {
    power_fleet f;
    const std::string first = power_fleet::pod("a", "4");
    std::string second = first;
    second.replace(second.find("8f1e-a"), 6, "9c2d-a");
    (void)f.ask(first);
    (void)f.ask(second);
    CHECK(f.record().power[1].in_flight == doctest::Approx(4));
  }

  TEST_CASE("cores in flight count by what the API server says, until the load shows them") {
    power_fleet f;
    auto& placed = f.face().placed();
    placed.bindings_followed(true);
    placed.bound("u1", "flat", f.now, 6);
    (void)f.ask(power_fleet::pod("a", "1"));
    CHECK(f.record().power[1].in_flight == doctest::Approx(6));
    placed.ready("u1", true, f.now);
    placed.gone("8f1e-a");
    f.now += 25s;  // the 10 s of the load's window, and more than 10 s beyond it
    f.load("flat", 0.7);
    f.load("cold", 0.1);
    (void)f.ask(power_fleet::pod("a", "1"));
    CHECK(f.record().power[1].in_flight == 0);
    placed.bound("u2", "flat", f.now, 6);
    placed.gone("u2");
    (void)f.ask(power_fleet::pod("a", "1"));
    CHECK(f.record().power[1].in_flight == 0);
  }

  TEST_CASE("pods whose image takes two minutes to load do not fill a node beyond its cap") {
    power_fleet f;
    auto& placed = f.face().placed();
    placed.bindings_followed(true);
    placed.bound("u1", "flat", f.now, 6);
    f.now += 90s;
    f.load("flat", 0.1);
    f.load("cold", 0.1);
    const auto scores = f.ask(power_fleet::pod("a", "4"));
    CHECK(f.record().power[1].in_flight == doctest::Approx(6));
    CHECK(scores.at("flat") == 1);
  }

  TEST_CASE("by WAO's rules a pod that names no CPU has no figure, and no cap is named") {
    for (const auto by : {predict::objective::wao_v1, predict::objective::wao_v2}) {
      CAPTURE(predict::to_string(by));
      power_fleet f({.objective = by});
      CHECK(f.ask(power_fleet::pod("web", "0")).empty());  // no opinion, and not 0 for all
      CHECK(f.record().how == decision::outcome::no_data);
      CHECK_MESSAGE(f.told().find("flat scores 0: no figure: the pod") != std::string::npos, f.told());
      CHECK_MESSAGE(f.told().find("names no CPU, and WAO's rule needs it") != std::string::npos, f.told());
      CHECK_MESSAGE(f.told().find("90 %") == std::string::npos, f.told());
      (void)f.ask(power_fleet::pod("big", "9500m"));
      const bool first = by == predict::objective::wao_v1;  // WAO's first version checks only limits
      CHECK_MESSAGE((f.told().find("flat scores 1: the pod of 9.5 cores does not fit beside its load") !=
                     std::string::npos) == !first,
                    f.told());
      CHECK_MESSAGE(f.told().find("90 %") == std::string::npos, f.told());
      const auto json = decision::to_json(f.record(), f.decisions.names());
      CHECK_MESSAGE(json.find("maxLoad") == std::string::npos, json);
    }
    CHECK(policy::to_string(policy::power_terms{}) == "BestChord up to 90 % load");
    CHECK(policy::to_string(policy::power_terms{.objective = predict::objective::wao_v2}) == "WaoV2");
  }

  // The figures follow from WAO's rules, whose own vectors are in predict/wao_test.
  TEST_CASE("by WAO's rules nodes get the scores that WAO gives with its published model") {
    // Server 1218 at 0, 10 … 100 % CPU, with temperatures in the middle of their ranges.
    const std::vector<double> model{78.707,  90.052,  95.946,  99.710,  103.475, 107.834,
                                    112.773, 118.477, 124.071, 129.543, 134.969};
    for (const auto by : {predict::objective::wao_v1, predict::objective::wao_v2}) {
      CAPTURE(predict::to_string(by));
      power_fleet f({.objective = by});
      const std::map<std::string, double> loads{{"cold", 0}, {"flat", 0.5}, {"new", 0.8}};
      for (const auto& [name, share] : loads) {
        serve(f, name, model);
        f.load(name, share);
      }
      // 11, 4 and 5 W: of 0..100 the first version gives 0, 100 and 86, the second 20, 100 and 89.
      const int dearest = by == predict::objective::wao_v1 ? 1 : 2;
      CHECK(f.ask(power_fleet::pod("web", "1")) ==
            power_fleet::scores{{"cold", dearest}, {"flat", 10}, {"new", 9}});
    }
  }

  TEST_CASE("a stranger that got the mean of the others is told with that score") {
    power_fleet f({}, policy::missing::allow);
    CHECK(f.ask(power_fleet::pod("web", "1"), {"cold", "flat", "nobody"}).at("nobody") == 6);
    CHECK_MESSAGE(f.told().find("nobody scores 6: no agent of that name has been seen") != std::string::npos,
                  f.told());
  }

  TEST_CASE("herdDamping: Disabled counts nothing in flight") {
    power_fleet f({}, policy::missing::reject, policy::herd_damping::disabled);
    for (int i = 0; i < 5; ++i) CHECK(f.ask(power_fleet::pod(std::to_string(i), "4")).at("flat") == 10);
  }

  TEST_CASE("a node of which nothing is known has the others' mean where the policy allows it") {
    power_fleet f({}, policy::missing::allow);
    CHECK(f.ask(power_fleet::pod("web", "1")) == power_fleet::scores{{"cold", 2}, {"flat", 10}, {"new", 6}});
  }

  TEST_CASE("where nothing is known of any candidate there is no score at all, rather than 0 for all") {
    power_fleet f;
    CHECK(f.ask(power_fleet::pod("web", "1"), {"new"}).empty());
    CHECK(f.last.body == "[]");
    CHECK(f.last.outcome == "no_data");
    CHECK_MESSAGE(f.told().find("no load and model of any of these nodes yet") != std::string::npos,
                  f.told());
    CHECK(f.ask(power_fleet::pod("web", "1"), {"nobody"}).empty());
    // If the load of all candidates is unknown, the answer has no scores, either.
    f.absent("flat", std::string(policy::load_metric), absence::stale);
    CHECK(f.ask(power_fleet::pod("web", "1"), {"flat"}).empty());
    CHECK(f.ask(power_fleet::pod("web", "1")) == power_fleet::scores{{"cold", 10}, {"flat", 0}, {"new", 0}});
  }

  TEST_CASE("a dry run gives no score, expects no pod anywhere, and says what would have been") {
    power_fleet f({}, policy::missing::reject, policy::herd_damping::enabled, policy::mode::dry_run);
    CHECK(f.ask(power_fleet::pod("web", "4")).empty());
    CHECK(f.face().placed().size() == 0);
    CHECK_MESSAGE(f.told().find("flat scores 10") != std::string::npos, f.told());
  }

  TEST_CASE(
      "a node whose model says impossible watts cannot flatten the others' scores, and the record says so") {
    power_fleet f;
    f.model("new", {100, 1e6, 2e6, 3e6, 4e6, 5e6});
    f.node("fourth");
    f.model("fourth", {50, 75, 100, 125, 150, 175});
    f.load("fourth", 0.1);
    const auto got = f.ask(power_fleet::pod("web", "1"), {"cold", "flat", "new", "fourth"});
    CHECK(got == power_fleet::scores{{"cold", 8}, {"flat", 10}, {"fourth", 9}, {"new", 2}});
    CHECK_MESSAGE(f.told().find("far outside the other nodes' range") != std::string::npos, f.told());
    CHECK(f.record().candidates[2].value == decision::standing::beyond);
    CHECK(f.face().stats().beyond == 1);
  }

  TEST_CASE("a load that cannot be counts as no load, and the record is JSON that can be read") {
    power_fleet f;
    f.model("flat", {200, 205, 210, 215, 220, 225}, 10'000);
    const decimal lie{900'000'000'000'000'000, 18};  // as cores it is more than a float holds
    f.value("flat", std::string(policy::load_metric), lie);
    CHECK(f.ask(power_fleet::pod("web", "1")) == power_fleet::scores{{"cold", 10}, {"flat", 0}, {"new", 0}});
    CHECK(f.record().candidates[1].value == decision::standing::implausible);
    CHECK(f.face().stats().implausible == 1);
    CHECK(f.face().stats().last_implausible.node == "flat");
    CHECK_MESSAGE(f.told().find("which cannot be (the least is 0, the most 1)") != std::string::npos,
                  f.told());
    const auto read = boost::json::parse(decision::to_json(f.record(), f.decisions.names()));
    const auto& flat = read.at("nodes").at(1).as_object();
    CHECK(flat.at("node") == "flat");
    CHECK(flat.at("implausible") == true);
    CHECK_FALSE(flat.at("power").as_object().contains("loadCores"));
  }

  TEST_CASE("a new model counts at the next call") {
    power_fleet f;
    CHECK(f.ask(power_fleet::pod("a", "1")).at("flat") == 10);
    f.model("flat", {200, 400});
    f.model("new", {100, 101});
    CHECK(f.ask(power_fleet::pod("b", "1")) == power_fleet::scores{{"cold", 2}, {"flat", 3}, {"new", 10}});
  }
}

}  // namespace extender_power_test
