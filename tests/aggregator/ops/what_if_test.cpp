#include "aggregator/ops/what_if.hpp"

#include "aggregator/policy/power_terms.hpp"
#include "tests/aggregator/ops/house.hpp"
#include "tests/support/whole.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace ops_what_if_test {

using namespace binnacle;
using namespace binnacle::ops;
namespace json = boost::json;

/// Nodes of 10 cores at 10 % load. "cold" draws least and its watts rise steeply, "flat" draws much and its
/// watts hardly rise.
struct power_house {
  policy::view nodes;
  std::shared_ptr<store::shared_column> loads =
      std::make_shared<store::shared_column>(policy::power_rules().front().column());
  std::shared_ptr<policy::verdict_column> verdicts = std::make_shared<policy::verdict_column>();
  policy::power_terms terms;
  policy::mode how = policy::mode::enforce;
  policy::herd_damping damping = policy::herd_damping::enabled;
  in_flight_reader in_flight;

  power_house() {
    add("cold", {50, 100, 150, 200, 250, 300});
    add("flat", {200, 205, 210, 215, 220, 225});
  }

  std::uint32_t add(const std::string& name, const std::vector<double>& watts = {}, double load = 0.1) {
    const auto id = static_cast<std::uint32_t>(nodes.nodes().size());
    nodes.apply({.id = store::node_id{id}, .name = name, .at = store::at_s(10), .connected = true});
    store::sample s;
    s.value = {std::lround(10'000 * load), -4};
    s.read_at = store::at_s(100.8);
    s.expires_at = store::at_s(110.8);
    s.reason = absence::none;
    loads->store(store::node_id{id}, s);
    if (!watts.empty()) {
      predict::model m{predict::curve::through(watts, 10).value()};
      m.covered = 0.62;
      m.noise = 0.012;
      m.made = ops::now - std::chrono::seconds(48);
      nodes.models().set(id, std::make_shared<const predict::model>(std::move(m)));
    }
    return id;
  }

  std::shared_ptr<policy::published_policy> made(const std::string& name_space,
                                                 const std::string& name) const {
    policy::published_rule load;
    load.definition = policy::power_rules().front();
    load.values = loads;
    auto p = std::make_shared<policy::published_policy>();
    p->key = {name_space, name};
    p->how = how;
    p->damping = damping;
    p->strategies.push_back(
        {policy::strategy_kind::dontschedule, policy::logic::any_of, policy::missing::reject, {}, verdicts});
    policy::published_strategy watts;
    watts.kind = policy::strategy_kind::minimizepower;
    watts.rules = {load};
    watts.power = terms;
    p->strategies.push_back(std::move(watts));
    return p;
  }

  json::value ask(std::size_t pods, const char* cpu) {
    imagined_pods q;
    q.policy = made("default", "watts");
    q.pods = pods;
    q.cpu = parse_quantity(cpu).value();
    q.now = ops::now;
    q.time = "2026-01-01T12:00:00Z";
    std::string text;
    for (const auto& piece : support::whole(what_if_json(nodes, std::move(q), in_flight)).body) text += piece;
    return json::parse(text);
  }
};

std::string text_of(const json::value& v) { return json::serialize(v); }
std::string text_of(const json::value& v, const char* key) { return text_of(v.at(key)); }

TEST_SUITE("aggregator/ops/what_if") {
  TEST_CASE_FIXTURE(power_house,
                    "pods go where they cost the fewest watts, and the sum is what the curves say") {
    const auto a = ask(4, "2");
    CHECK(a.at("policy") == "default/watts");
    CHECK(a.at("mode") == "Enforce");
    CHECK(a.at("objective") == "BestChord");
    CHECK(a.at("maxLoad").to_number<double>() == 0.9);
    CHECK(a.at("cpu") == "2");
    CHECK(a.at("placed") == 4);
    CHECK(a.at("knownNodes") == 2);
    // At one core each, "cold" draws 75 W and "flat" 202.5 W. Eight more cores on "flat" cost 2.5 W each.
    CHECK(a.at("wattsNow").to_number<double>() == doctest::Approx(277.5));
    CHECK(a.at("wattsThen").to_number<double>() == doctest::Approx(297.5));
    REQUIRE(a.at("nodes").as_array().size() == 1);
    const json::value& flat = a.at("nodes").at(0);
    CHECK(flat.at("node") == "flat");
    CHECK(flat.at("pods") == 4);
    CHECK(flat.at("loadCoresThen").to_number<double>() == doctest::Approx(9));
    CHECK(flat.at("wattsThen").to_number<double>() == doctest::Approx(222.5));
    CHECK(flat.at("full") == true);
    CHECK(flat.at("model") == "node");
    CHECK(flat.at("modelAgeSeconds") == 48);
    CHECK(flat.at("coveredPercent") == 62);
    CHECK(text_of(a, "full") == R"({"count":1,"nodes":["flat"]})");
    CHECK(text_of(a, "leftOut") == "[]");

    const auto more = ask(20, "2");
    CHECK(more.at("placed") == 8);
    CHECK(more.at("nodes").at(0).at("node") == "flat");
    CHECK(more.at("nodes").at(1).at("node") == "cold");
    CHECK(text_of(more, "full") == R"({"count":2,"nodes":["cold","flat"]})");
  }

  TEST_CASE_FIXTURE(power_house, "pods in flight and the policy's terms count as they do in prioritize") {
    in_flight = [](const policy::published_rule& load, instant) {
      CHECK(load.definition.metric == policy::load_metric);
      return std::vector<double>{0, 6};  // 6 cores on "flat"
    };
    terms.pod_usage = 0.5;  // it also scales the load in flight
    const auto a = ask(1, "4");
    const json::value& flat = a.at("nodes").at(0);
    CHECK(flat.at("node") == "flat");
    CHECK(flat.at("loadCores").to_number<double>() == doctest::Approx(1));
    CHECK(flat.at("inFlightCores").to_number<double>() == doctest::Approx(3));
    CHECK(flat.at("loadCoresThen").to_number<double>() == doctest::Approx(6));
    CHECK(flat.at("wattsNow").to_number<double>() == doctest::Approx(210));
    damping = policy::herd_damping::disabled;
    CHECK(ask(1, "4").at("nodes").at(0).at("inFlightCores").to_number<double>() == 0);
    terms.max_load = 0.2;
    CHECK(ask(1, "4").at("placed") == 0);
    terms.objective = predict::objective::wao_v2;
    const auto wao = ask(1, "4");
    CHECK(wao.at("placed") == 1);
    CHECK(wao.at("podCores").to_number<double>() == doctest::Approx(2));
    CHECK(wao.at("nodes").at(0).at("loadCoresThen").to_number<double>() == doctest::Approx(3));
    CHECK(wao.as_object().if_contains("maxLoad") == nullptr);
  }

  TEST_CASE_FIXTURE(power_house, "nodes that take no pod are named with the reason") {
    verdicts->store(store::node_id{1}, {policy::state::violating, true, 0, 0});
    verdicts->store(store::node_id{add("mute", {100, 200})}, {policy::state::missing, false, 0, 1});
    loads->store(store::node_id{add("away", {100, 200})}, {});
    add("without-meter");
    store::catalog_builder c;
    c.group("bmc").series("host_power_watts", {{"source", "dcmi"}}, -1);
    auto row =
        std::make_shared<store::row>(std::make_shared<const store::shape>(store::make_shape(c, {})->what));
    row->set_value(0, 1404);
    row->set_read(0, store::at_s(100.8));
    nodes.apply({.id = store::node_id{add("young")}, .name = "young", .cells = row});
    how = policy::mode::dry_run;
    const auto a = ask(1, "1");
    CHECK(a.at("mode") == "DryRun");
    CHECK(a.at("nodes").at(0).at("node") == "cold");
    CHECK(a.at("knownNodes") == 1);
    CHECK(
        text_of(a, "leftOut") ==
        R"([{"reason":"refused","count":2,"nodes":["flat","mute"]},{"reason":"noLoad","count":1,"nodes":["away"]},)"
        R"({"reason":"noMeter","count":1,"nodes":["without-meter"]},{"reason":"learning","count":1,"nodes":["young"]}])");
  }

  TEST_CASE_FIXTURE(power_house, "defect: nobody said of a node rated in kilowatts why it takes no pod") {
    nodes.apply({.id = store::node_id{add("small")}, .name = "small", .cells = row_rated_in_kilowatts()});
    CHECK(text_of(ask(1, "1"), "leftOut") == R"([{"reason":"badRated","count":1,"nodes":["small"]}])");
  }

  TEST_CASE_FIXTURE(power_house, "a node whose load cannot be takes no pod, although it would cost nothing") {
    loads->set_plausible({0, 1, 1});
    add("busy", {10, 10}, 1);
    add("lies", {10, 10}, -7);
    const auto a = ask(1, "1");
    CHECK(a.at("nodes").at(0).at("node") == "flat");
    CHECK(text_of(a, "full") == R"({"count":1,"nodes":["busy"]})");
    CHECK(text_of(a, "leftOut") == R"([{"reason":"noLoad","count":1,"nodes":["lies"]}])");
  }

  TEST_CASE_FIXTURE(power_house, "where only model servers count, a node without a served curve says so") {
    terms.model = policy::power_model::external;
    const auto a = ask(1, "1");
    CHECK(a.at("placed") == 0);
    CHECK(a.at("knownNodes") == 0);
    CHECK(text_of(a, "leftOut") == R"([{"reason":"noServer","count":2,"nodes":["cold","flat"]}])");
  }

  TEST_CASE_FIXTURE(
      power_house,
      "many pods and nodes take several slices, nodes that go meanwhile do no harm, and few are named") {
    for (int i = 0; i < 1'200; ++i) add("node-" + std::to_string(i), {100, 150, 190, 220, 240, 250});
    for (int i = 0; i < 300; ++i) add("young-" + std::to_string(i));
    imagined_pods q;
    q.policy = made("default", "watts");
    q.pods = 9'000;
    q.cpu = from_integer(1);
    q.now = ops::now;
    const auto work = what_if_json(nodes, std::move(q), in_flight);
    std::size_t steps = 1;
    CHECK(work->step());
    const std::string gone = "node-7";
    nodes.models().set(store::index(nodes.find(gone)->id), nullptr);
    nodes.forget({nodes.find(gone)->id});
    while (work->step()) ++steps;
    CHECK(steps > 10);
    std::string text;
    for (const auto& piece : work->take().body) text += piece;
    const auto a = json::parse(text);
    CHECK(a.at("placed") == 9'000);
    std::int64_t sum = 0;
    for (const auto& n : a.at("nodes").as_array()) sum += n.at("pods").as_int64();
    CHECK(sum == 9'000);
    CHECK(a.at("full").at("nodes").as_array().size() == 100);
    CHECK(a.at("full").at("count").as_int64() > 1'000);
    CHECK(a.at("leftOut").at(0).at("count") == 300);
    CHECK(a.at("leftOut").at(0).at("nodes").as_array().size() == 100);
  }

  TEST_CASE_FIXTURE(power_house, "the policy is the only one with minimizepower, or the one that is named") {
    policy::policy_table table;
    const auto put = [&](const char* name_space, const char* name) {
      const auto p = made(name_space, name);
      table[p->key] = p;
    };
    CHECK(policy_by_watts(table, "").error().message.find("no policy with minimizepower is in force") == 0);
    put("a", "one");
    auto other = made("a", "without");
    other->strategies.pop_back();
    table[other->key] = other;
    CHECK(policy_by_watts(table, "").value()->key.text() == "a/one");
    CHECK(policy_by_watts(table, "one").value()->key.text() == "a/one");
    CHECK(policy_by_watts(table, "without").error().message ==
          "no policy 'without' with minimizepower is in force, only a/one");
    put("b", "one");
    CHECK(policy_by_watts(table, "b/one").value()->key.text() == "b/one");
    for (const char* name : {"", "one"}) {
      const auto several = policy_by_watts(table, name);
      REQUIRE(several.has_error());
      CHECK(several.error().code == errc::invalid_input);
      CHECK(several.error().message ==
            "several policies have minimizepower: name one of a/one, b/one (--policy NAMESPACE/NAME, or the "
            "parameter policy)");
    }
    for (const char* name : {"2", "3", "4", "5", "6"}) put("c", name);
    CHECK(policy_by_watts(table, "").error().message.find("a/one, b/one, c/2, c/3, c/4 and 2 more (") !=
          std::string::npos);
  }
}

}  // namespace ops_what_if_test
