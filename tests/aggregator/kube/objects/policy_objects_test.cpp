#include "aggregator/kube/objects/policy_objects.hpp"

#include "aggregator/policy/text/policy_set.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace policy_objects_test {

namespace {

using namespace binnacle;

struct objects {
  kube::policy_objects seen;
  void put(const std::string& name, const std::string& spec, const std::string& more = "") {
    const auto object = kube::parse_object(fmt::format(
        R"({{"metadata":{{"name":"{0}","namespace":"ops","annotations":{{"{1}":"x"}}}},"spec":{2},"status":{{"message":"{1}"}}}})",
        name, more, spec));
    REQUIRE(object.has_value());
    seen.changed({"ops", name}, *object);
  }
};

const std::string right =
    R"({"strategies":{"dontschedule":{"rules":[{"metricname":"temp","operator":"GreaterThan","target":80}]}}})";
const std::string half =
    R"({"strategies":{"dontschedule":{"rules":[{"metricname":"temp","operator":"Above","target":90}]},"deschedule":{"maxNodes":3,"rules":[{"metricname":"temp","operator":"GreaterThan","targetQuantity":"90.5"}]}}})";

TEST_SUITE("aggregator/kube/objects/policy_objects") {
  TEST_CASE("an object is a text that the reader of files reads") {
    objects o;
    o.put("power", right);
    const auto changes = o.seen.take();
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].name == "TASPolicy ops/power");
    policy::policy_set set;
    set.put_object(changes[0].name, *changes[0].text);
    REQUIRE(set.policies().size() == 1);
    CHECK(set.policies()[0].key.text() == "ops/power");
    CHECK(set.policies()[0].strategies[0].rules[0].text() == "temp GreaterThan 80");
    CHECK(set.problems().empty());
  }

  TEST_CASE("a text tells which object it is from: one that was made again under its old name is new") {
    objects o;
    const auto object = kube::parse_object(
        R"({"metadata":{"name":"p","namespace":"ops","uid":"7c9","creationTimestamp":"2026-05-01T00:00:00Z"}})");
    o.seen.changed({"ops", "p"}, *object);
    policy::policy_set set;
    set.put_object("TASPolicy ops/p", *o.seen.take()[0].text);
    CHECK(set.policies().at(0).uid == "7c9");
    CHECK(set.policies().at(0).created == "2026-05-01T00:00:00Z");
  }

  TEST_CASE("a policy that is half wrong says which part, without a line, and keeps the rest") {
    objects o;
    policy::policy_set set;
    o.put("power", right);
    set.put_object("TASPolicy ops/power", *o.seen.take()[0].text);
    o.put("power", half);
    set.put_object("TASPolicy ops/power", *o.seen.take()[0].text);
    REQUIRE(set.policies().size() == 1);
    CHECK(set.policies()[0].strategies.size() == 2);
    REQUIRE(set.problems().size() == 2);
    CHECK(set.problems()[0].text().starts_with(
        "TASPolicy ops/power: error: spec.strategies.dontschedule.rules[0].operator: "));
    CHECK(set.problems()[1].text() ==
          "TASPolicy ops/power: note: the last good version of dontschedule of policy ops/power stays in "
          "force");
  }

  TEST_CASE("what changes by itself is no change: a status, an annotation") {
    objects o;
    o.put("power", right, "one");
    CHECK(o.seen.take().size() == 1);
    o.put("power", right, "two");
    CHECK(o.seen.take().empty());
  }

  TEST_CASE("a deletion is told once, and a policy that came and went between two looks only as gone") {
    objects o;
    o.put("power", right);
    o.put("brief", right);
    o.seen.gone({"ops", "brief"});
    auto changes = o.seen.take();
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].name == "TASPolicy ops/brief");
    CHECK_FALSE(changes[0].text.has_value());
    o.seen.gone({"ops", "power"});
    o.seen.gone({"ops", "never"});
    changes = o.seen.take();
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].name == "TASPolicy ops/power");
  }

  TEST_CASE("texts of any characters arrive unchanged") {
    objects o;
    const std::string odd =
        R"({"strategies":{"labeling":{"rules":[{"metricname":"temp","operator":"Equals","target":1,"labels":["a=b"]}],"policyName":"é \u0001 \ud83d\ude00 \" \\ # : - {"}}})";
    o.put("odd", odd);
    policy::policy_set set;
    set.put_object("TASPolicy ops/odd", *o.seen.take()[0].text);
    CHECK(set.problems().empty());
    CHECK(set.policies().size() == 1);
  }

  TEST_CASE("an object without a spec is a policy that does nothing") {
    objects o;
    const auto object = kube::parse_object(R"({"metadata":{"name":"empty","namespace":"ops"}})");
    o.seen.changed({"ops", "empty"}, *object);
    policy::policy_set set;
    set.put_object("TASPolicy ops/empty", *o.seen.take()[0].text);
    CHECK(set.policies().size() == 1);
    CHECK(set.problems().size() == 1);
  }
}

}  // namespace

}  // namespace policy_objects_test
