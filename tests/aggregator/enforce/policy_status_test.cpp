#include "aggregator/enforce/policy_status.hpp"

#include "aggregator/enforce/pending_judgements.hpp"
#include "aggregator/enforce/status_pace.hpp"
#include "common/text/utf8.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

namespace policy_status_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using enforce::urgency;

const instant now(1h);
const enforce::wall clock_now(1'800'000'000s);
const policy::policy_key power{"ops", "power"};

/// Three nodes and a policy with one rule that the first two violate.
struct house {
  policy::view nodes;
  std::vector<policy::problem> problems;
  std::vector<policy::condition> conditions;
  std::shared_ptr<store::shared_column> values =
      std::make_shared<store::shared_column>(store::column_spec{"temp"});
  std::shared_ptr<policy::verdict_column> verdicts = std::make_shared<policy::verdict_column>();

  house() {
    for (std::uint32_t i = 0; i < 3; ++i) {
      const store::node_id id{i};
      nodes.apply({.id = id, .name = "n" + std::to_string(i)});
      const bool bad = i < 2;
      verdicts->store(id, {bad ? policy::state::violating : policy::state::pass, bad, 0, 0});
      store::sample s;
      s.reason = absence::none;
      s.read_at = now - std::chrono::seconds(i + 1);
      s.expires_at = now + 10s;
      values->store(id, s);
    }
    auto p = std::make_shared<policy::published_policy>();
    p->key = power;
    policy::published_strategy s;
    s.verdicts = verdicts;
    s.rules.push_back({{}, "temp GreaterThan 80", values});
    p->strategies.push_back(std::move(s));
    auto table = std::make_shared<policy::policy_table>();
    table->emplace(power, std::move(p));
    nodes.set_policies(std::move(table));
  }
  void make_dry_run() {
    auto p = std::make_shared<policy::published_policy>(*nodes.policies().at(power));
    p->how = policy::mode::dry_run;
    auto table = std::make_shared<policy::policy_table>();
    table->emplace(power, std::move(p));
    nodes.set_policies(std::move(table));
  }
  enforce::policy_facts facts(const policy::policy_key& key = power) const {
    return enforce::facts_of(key, "TASPolicy " + key.text(), 7, nodes, problems, conditions, now);
  }
  boost::json::object status(const boost::json::object& present = {}) const {
    return enforce::status_of(facts(), present, clock_now);
  }
};

TEST_SUITE("aggregator/enforce/policy_status") {
  TEST_CASE("a dry run says in its condition which labels it would give") {
    house h;
    const auto message = [&h] {
      return std::string(h.status().at("conditions").as_array().at(0).at("message").as_string());
    };
    h.nodes.node(store::node_id{0}, "n0").would_be["power"] = "violating";
    CHECK_MESSAGE(message() == "", "it is enforced");
    h.make_dry_run();
    CHECK(h.status().at("conditions").as_array().at(0).at("reason") == "DryRun");
    CHECK(message() == "n0 would get the label power=violating");
    for (std::uint32_t i = 3; i < 7; ++i) {
      h.nodes.apply({.id = store::node_id{i}, .name = "n" + std::to_string(i)}).would_be["power"] =
          "violating";
    }
    CHECK(message() == "n0, n3, n4 and 2 more would get the label power=violating");
  }

  TEST_CASE("a policy that is violated says by how many, by whom, and how old its data is") {
    const house h;
    const auto s = h.status();
    CHECK(s.at("compliance") == "Violated");
    CHECK(s.at("message") == "2 of 3 nodes violate the policy");
    CHECK(s.at("observedGeneration") == 7);
    CHECK(s.at("strategies") == "dontschedule");
    CHECK(s.at("violatingNodes") == 2);
    CHECK(boost::json::serialize(s.at("violating")) == R"(["n0","n1"])");
    CHECK(s.at("oldestData") == "2027-01-15T07:59:57Z");
    CHECK(enforce::condition_in(s, "Ready") == "True");
    CHECK(enforce::condition_in(s, "MetricsAvailable") == "True");
    CHECK(enforce::condition_in(s, "Conflict") == "False");
    CHECK(enforce::condition_in(s, "Nothing").empty());
  }

  TEST_CASE("what is wrong comes first, with its place; what is right stays in force") {
    house h;
    h.problems = {{"TASPolicy ops/other", 0, "spec", "not ours", policy::severity::error},
                  {"TASPolicy ops/power", 0, "spec.strategies.x", "the strategy 'x' is unknown",
                   policy::severity::error},
                  {"TASPolicy ops/power", 0, "", "a note", policy::severity::note},
                  {"TASPolicy ops/power", 0, "spec.mode", "is wrong, too", policy::severity::error}};
    const auto s = h.status();
    CHECK(s.at("message") == "spec.strategies.x: the strategy 'x' is unknown (and 1 more)");
    CHECK(enforce::condition_in(s, "Ready") == "False");
    CHECK(boost::json::serialize(s).find("PartlyInvalid") != std::string::npos);
    CHECK(s.at("violatingNodes") == 2);
    const auto none = enforce::status_of(h.facts({"ops", "other"}), {}, clock_now);
    CHECK(boost::json::serialize(none).find("\"Invalid\"") != std::string::npos);
    CHECK(none.at("compliance") == "Unknown");
  }

  TEST_CASE("conditions of the engine become conditions of the object") {
    house h;
    h.conditions = {{power, policy::condition_kind::metric_missing, std::nullopt, true, "no node has temp"},
                    {power, policy::condition_kind::held, std::nullopt, true, "2 nodes wait"},
                    {power, policy::condition_kind::frozen, std::nullopt, false, ""},
                    {{"ops", "other"}, policy::condition_kind::conflict, std::nullopt, true, "not ours"}};
    auto s = h.status();
    CHECK(enforce::condition_in(s, "MetricsAvailable") == "False");
    CHECK(enforce::condition_in(s, "Held") == "True");
    CHECK(enforce::condition_in(s, "Frozen") == "False");
    CHECK(enforce::condition_in(s, "Conflict") == "False");
    h.conditions = {{power, policy::condition_kind::too_costly, std::nullopt, true, "it would take 4 GiB"}};
    s = h.status();
    CHECK(enforce::condition_in(s, "TooCostly") == "True");
    CHECK(enforce::condition_in(s, "Ready") == "False");
    CHECK(s.at("message") == "it would take 4 GiB");
    CHECK_MESSAGE(s.at("violatingNodes") == 2, "the last good version judges");
    CHECK(enforce::news_of(s, {}).back().reason == "TooCostly");
    h.conditions = {{power, policy::condition_kind::not_allowed, std::nullopt, true, "ops may not label"}};
    CHECK(enforce::condition_in(h.status(), "Ready") == "False");
  }

  TEST_CASE("a condition keeps the time of its last transition, whoever wrote it") {
    house h;
    auto first = h.status();
    const auto later = enforce::status_of(h.facts(), first, clock_now + 1h);
    CHECK(later.at("conditions") == first.at("conditions"));
    CHECK(enforce::difference(later, first) == urgency::refresh);  // an hour later
    h.conditions = {{power, policy::condition_kind::held, std::nullopt, true, "2 nodes wait"}};
    const auto held = enforce::status_of(h.facts(), first, clock_now + 1h);
    CHECK(enforce::difference(held, first) == urgency::change);
    CHECK(
        boost::json::serialize(held).find(
            R"("type":"Held","status":"True","reason":"Held","message":"2 nodes wait","observedGeneration":7,"lastTransitionTime":"2027-01-15T09:00:00Z")") !=
        std::string::npos);
    CHECK(boost::json::serialize(held).find(R"("lastTransitionTime":"2027-01-15T08:00:00Z")") !=
          std::string::npos);
  }

  TEST_CASE("nothing is to be written while nothing but the age changes, for five minutes") {
    const house h;
    const auto present = h.status();
    CHECK(enforce::difference(present, present) == urgency::none);
    auto wanted = present;
    wanted["oldestData"] = "2027-01-15T08:04:56Z";
    CHECK(enforce::difference(wanted, present) == urgency::none);
    wanted["oldestData"] = "2027-01-15T08:04:57Z";
    CHECK(enforce::difference(wanted, present) == urgency::refresh);
    wanted.erase("oldestData");
    CHECK(enforce::difference(wanted, present) == urgency::refresh);
    CHECK(enforce::patch_of(wanted, present).find(R"("oldestData":null)") != std::string::npos);
    CHECK(enforce::difference(present, {}) == urgency::change);
  }

  TEST_CASE("a node whose data is missing still violates if it did, and does not if it did not") {
    house h;
    h.verdicts->store(store::node_id{0}, {policy::state::frozen, true, 0, 1});
    h.verdicts->store(store::node_id{1}, {policy::state::frozen, false, 0, 1});
    const auto s = h.status();
    CHECK(s.at("violatingNodes") == 1);
    CHECK(boost::json::serialize(s.at("violating")) == R"(["n0"])");
    CHECK(s.at("compliance") == "Violated");
  }

  TEST_CASE("long sentences are cut between characters") {
    house h;
    std::string text = "x";
    while (text.size() < 3000) text += "ü";
    h.problems = {{"TASPolicy ops/power", 0, "", text, policy::severity::error}};
    const auto s = h.status();
    for (const auto& cut :
         {s.at("message").as_string(), s.at("conditions").at(0).at("message").as_string()}) {
      CHECK(cut.size() == 1999);
      CHECK(find_invalid_utf8(std::string_view(cut)) == std::string_view::npos);
    }
  }

  TEST_CASE("at most a hundred names") {
    house h;
    for (std::uint32_t i = 100; i < 400; ++i) {
      h.nodes.apply({.id = store::node_id{i}, .name = "m" + std::to_string(i)});
      h.verdicts->store(store::node_id{i}, {policy::state::held, false, 0, 0});
    }
    const auto s = h.status();
    CHECK(s.at("violatingNodes") == 302);
    CHECK(s.at("violating").as_array().size() == 100);
  }

  TEST_CASE("a status that another hand made of nonsense is no obstacle") {
    const house h;
    for (const char* text :
         {R"({"conditions":7})", R"({"conditions":[7,{"type":7},{"type":"Ready","status":"True"}]})"}) {
      const auto present = boost::json::parse(text).as_object();
      CHECK(enforce::condition_in(h.status(present), "Ready") == "True");
    }
  }
}

TEST_SUITE("aggregator/enforce/status_pace") {
  TEST_CASE("a change is written soon, the next of that policy not for five seconds") {
    enforce::status_pace p(1);
    CHECK_FALSE(p.may_write("a", urgency::none, now));
    CHECK(p.may_write("a", urgency::change, now));
    p.begins("a", now);
    p.wrote("a", urgency::change, now);
    CHECK_FALSE(p.may_write("a", urgency::change, now + 4s));
    CHECK(p.may_write("b", urgency::change, now + 1s));
    CHECK(p.may_write("a", urgency::change, now + 5s));
  }

  TEST_CASE("twenty policies whose data only ages cost three writes a minute") {
    enforce::status_pace p(1);
    int writes = 0;
    for (duration t{}; t < 10min; t += 1s) {
      for (int i = 0; i < 20; ++i) {
        const std::string name = std::to_string(i);
        if (!p.may_write(name, urgency::refresh, now + t)) continue;
        p.begins(name, now + t);
        p.wrote(name, urgency::refresh, now + t);
        ++writes;
      }
    }
    CHECK(writes == 30);
  }

  TEST_CASE("a status that is refused waits, and others do not wait for it") {
    enforce::status_pace p(1);
    p.begins("a", now);
    p.refused("a", now);
    CHECK_FALSE(p.may_write("a", urgency::change, now + 29s));
    CHECK(p.may_write("b", urgency::change, now + 1s));
    CHECK(p.may_write("a", urgency::change, now + 30s));
  }

  TEST_CASE("a status that the API server does not keep is written every five minutes, at most") {
    const house h;
    const auto wanted = h.status();
    const boost::json::object kept{{"compliance", "Violated"},
                                   {"message", "2 of 3 nodes violate the policy"}};
    CHECK_MESSAGE(enforce::difference(wanted, kept) == urgency::change, "TAS's CRD has no other members");
    CHECK_MESSAGE(enforce::news_of(kept, {}).empty(), "it would be news again and again");
    CHECK(enforce::news_of(wanted, {}).size() == 1);
    enforce::status_pace p(1);
    p.begins("a", now);
    p.lost("a", urgency::change, now);
    CHECK_FALSE(p.may_write("a", urgency::change, now + 299s));
    CHECK_FALSE(p.is_due("a", now + 299s));
    CHECK(p.may_write("b", urgency::change, now + 1s));
    CHECK(p.may_write("a", urgency::change, now + 300s));
    p.lost("a", urgency::change, now);
    p.forget("a");
    CHECK_MESSAGE(p.may_write("a", urgency::change, now + 1s), "its spec was changed");
  }

  TEST_CASE("if the API server asks for a pause, no policy is written, and the pauses grow") {
    enforce::status_pace p(1);
    int writes = 0;
    for (duration t{}; t < 10min; t += 1s) {
      for (int i = 0; i < 200; ++i) {
        if (!p.may_write(std::to_string(i), urgency::change, now + t)) continue;
        p.pause(5s, now + t);
        ++writes;
      }
    }
    CHECK(writes > 10);
    CHECK(writes < 60);
    p.wrote("a", urgency::change, now + 20min);
    p.pause(5s, now + 20min);
    CHECK_FALSE(p.may_write("b", urgency::change, now + 20min + 5s));
    CHECK(p.may_write("b", urgency::change, now + 20min + 7s));
  }

  TEST_CASE("a policy that has just changed is not spoken of until it is judged") {
    const kube::object_key a{"ops", "a"}, b{"ops", "b"};
    enforce::pending_judgements pending;
    pending.changed(a, 1);
    pending.changed(b, 2);
    CHECK_FALSE(pending.any(0));
    CHECK(pending.take(0).empty());
    CHECK(pending.any(1));
    CHECK(pending.take(1) == std::vector{a});
    CHECK_FALSE(pending.awaits(a));
    CHECK(pending.awaits(b));
    pending.changed(b, 5);
    CHECK_MESSAGE(pending.take(4).empty(), "what was judged is the text before");
    pending.gone(b);
    CHECK_FALSE(pending.any(9));
  }

  TEST_CASE("a change that follows another at once is written at once") {
    enforce::status_pace p(1);
    p.begins("a", now);
    p.wrote("a", urgency::change, now);
    CHECK_FALSE(p.may_write("a", urgency::change, now + 1s));
    p.forget("a");
    CHECK(p.may_write("a", urgency::change, now + 1s));
  }

  TEST_CASE("nothing is remembered of a policy that goes while its status is written") {
    enforce::status_pace p(1);
    p.begins("written", now);
    p.forget("written");
    p.wrote("written", urgency::change, now + 1s);
    CHECK_FALSE_MESSAGE(p.may_write("b", urgency::change, now + 1050ms), "it was a write all the same");
    p.begins("lost", now + 2s);
    p.forget("lost");
    p.lost("lost", urgency::change, now + 3s);
    p.begins("refused", now + 4s);
    p.forget("refused");
    p.refused("refused", now + 5s);
    CHECK(p.size() == 0);
    CHECK_MESSAGE(p.may_write("written", urgency::change, now + 6s), "another one has come under its name");
  }
}

}  // namespace

}  // namespace policy_status_test
