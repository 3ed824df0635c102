#include "aggregator/kube/objects/policy_objects.hpp"

#include "aggregator/policy/text/policy_set.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace policy_objects_test {

namespace {

using namespace binnacle;

struct objects {
  explicit objects(kube::policy_room::limits most = {}) : seen(most) {}
  kube::policy_objects seen;
  /// An object of one namespace, made in that year, with a strategy's text of `bytes`.
  void put_sized(const std::string& name_space, const std::string& name, std::size_t bytes,
                 const std::string& year = "2026", const std::string& uid = "1") {
    const auto object = kube::parse_object(fmt::format(
        R"({{"metadata":{{"name":"{}","namespace":"{}","uid":"{}","creationTimestamp":"{}"}},"spec":{{"strategies":{{"dontschedule":{{"policyName":"{}","rules":[]}}}}}}}})",
        name, name_space, uid, year, std::string(bytes, 'x')));
    REQUIRE(object.has_value());
    seen.changed({name_space, name}, *object);
  }
  /// "a/x read, a/y refused: …, a/z gone".
  std::string news() {
    std::string out;
    for (const auto& c : seen.take()) {
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", c.key.text(),
                         c.gone()    ? "gone"
                         : c.refused ? "refused: " + c.refused->figures
                                     : "read");
    }
    return out;
  }
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

  TEST_CASE("a text that is too large is refused unread, and the last good version stays in force") {
    objects o;
    policy::policy_set set;
    o.put_sized("ops", "p", 10);
    set.put_object("TASPolicy ops/p", *o.seen.take().at(0).text);
    o.put_sized("ops", "p", 140'000);
    const auto changes = o.seen.take();
    REQUIRE(changes.size() == 1);
    CHECK_FALSE(changes[0].text);
    REQUIRE(changes[0].refused);
    CHECK(changes[0].refused->figures == "the policy's text has 136.9 KiB, and one may have 128.0 KiB");
    CHECK(changes[0].uid == "1");
    CHECK(o.seen.objects().at({"ops", "p"}).refused);
    o.put_sized("ops", "p", 10);
    CHECK_MESSAGE(o.news() == "ops/p read", "mended");
    CHECK_FALSE(o.seen.objects().at({"ops", "p"}).refused);
  }

  TEST_CASE("policies that do nothing are too many at some time: for a namespace, then for all") {
    objects o({.objects = 4});
    for (const char* name : {"a", "b", "c"}) o.put_sized("loud", name, 10);
    o.seen.synced();
    CHECK(o.news() == "loud/a read, loud/b read, loud/c read");
    o.put_sized("loud", "d", 10);
    CHECK(o.news() ==
          "loud/d refused: with this policy there would be 4 TASPolicy objects in namespace loud, and there "
          "may "
          "be 3");
    o.put_sized("quiet", "a", 10);
    CHECK(o.news() == "quiet/a read");
    o.put_sized("other", "a", 10);
    CHECK(o.news() ==
          "other/a refused: with this policy there would be 5 TASPolicy objects, and there may be 4");
    o.put_sized("loud", "d", 10);
    CHECK_MESSAGE(o.news().empty(), "it is said once");
  }

  TEST_CASE("texts are too large together at some time, and an edit has the room of its last version") {
    objects o({.objects = 10});  // 40 KiB, 30 for a namespace
    o.put_sized("loud", "a", 20'000);
    o.put_sized("loud", "b", 5'000);
    o.seen.synced();
    CHECK(o.news() == "loud/a read, loud/b read");
    o.put_sized("loud", "b", 15'000);
    CHECK(o.news() ==
          "loud/b refused: the policy's text has 14.9 KiB; the texts of all TASPolicy objects in namespace "
          "loud "
          "would then have 34.6 KiB, and may have 30.0 KiB");
    o.put_sized("loud", "a", 24'000);
    CHECK_MESSAGE(o.news() == "loud/a read", "5,000 bytes of b's last version count, not its 15,000");
    CHECK_FALSE(o.seen.take_wants_all_again());
    o.put_sized("loud", "a", 10);
    CHECK_MESSAGE(o.seen.take_wants_all_again(), "now b would fit");
    CHECK_FALSE(o.seen.take_wants_all_again());
    o.put_sized("loud", "b", 15'000);
    CHECK(o.news() == "loud/a read, loud/b read");
  }

  TEST_CASE("while the first list comes, the oldest have room; after it, those that have it") {
    objects o({.objects = 4});
    for (const char* name : {"a", "b", "c"}) o.put_sized("a", name, 10, "2026");
    o.put_sized("b", "x", 10, "2024");
    o.put_sized("z", "old", 10, "2020");
    o.seen.synced();
    CHECK(
        o.news() ==
        "a/a read, a/b read, a/c refused: with this policy there would be 5 TASPolicy objects, and there may "
        "be 4, b/x read, z/old read");
    o.put_sized("z", "older", 10, "2019");
    CHECK(o.news().starts_with("z/older refused: "));
    o.seen.gone({"a", "a"});
    CHECK(o.news() == "a/a gone");
    CHECK(o.seen.take_wants_all_again());
    o.put_sized("a", "c", 10, "2026");
    CHECK_MESSAGE(o.news() == "a/c read", "as the list brings it again");
  }

  TEST_CASE("an older object for which there would be no room all the same takes none from others") {
    objects o({.objects = 10});  // 40 KiB
    o.put_sized("a", "p", 9'000, "2025");
    o.put_sized("a", "q", 19'000, "2020");
    o.put_sized("b", "r", 9'500, "2010");
    o.put_sized("c", "s", 25'000, "2024");
    o.seen.synced();
    const std::string news = o.news();
    CHECK_MESSAGE(news.starts_with("a/p read, a/q read, b/r read, c/s refused: "), news);
  }

  TEST_CASE("of objects that gave their room to older ones only so many are known") {
    objects o({.objects = 10});
    for (int i = 0; i < 100; ++i)
      o.put_sized("loud", fmt::format("p{:02}", i), 10, fmt::format("{}", 2100 - i));
    o.seen.synced();
    CHECK(o.seen.objects().size() == 7 + 10);
    CHECK(o.seen.take().size() == 17);
    CHECK_FALSE(o.seen.objects().at({"loud", "p99"}).refused);
  }

  TEST_CASE("of objects without room only so many are known, and an object made again claims room anew") {
    objects o({.objects = 10});
    o.seen.synced();
    for (int i = 0; i < 100; ++i) o.put_sized("loud", fmt::format("p{}", i), 10);
    CHECK(o.seen.objects().size() == 7 + 10);
    CHECK(o.seen.take().size() == 17);
    o.put_sized("loud", "p0", 140'000, "2026", "2");
    CHECK(o.news() == "loud/p0 gone");
    CHECK(o.seen.take_wants_all_again());
    o.seen.gone({"loud", "p99"});
    CHECK(o.news().empty());
  }

  TEST_CASE("a status that is larger than any of ours is not kept") {
    objects o;
    o.put("power", right, std::string(1'000, 's'));
    CHECK(o.seen.objects().at({"ops", "power"}).status.contains("message"));
    o.put("power", right, std::string(70'000, 's'));
    CHECK(o.seen.objects().at({"ops", "power"}).status.empty());
  }

  TEST_CASE("a page of the largest objects is smaller than an answer may be") {
    CHECK(kube::policy_objects::collection().page * (std::size_t{3} << 20) < std::size_t{256} << 20);
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
