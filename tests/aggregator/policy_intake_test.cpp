#include "aggregator/policy_intake.hpp"

#include "aggregator/core/core.hpp"
#include "aggregator/loop_messages.hpp"
#include "common/metrics/alias_table.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace policy_intake_test {
namespace {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

/// A policy object with a rule on this target.
policy_text object(const std::string& name_space, const std::string& name, int target = 1) {
  return {
      fmt::format("TASPolicy {}/{}", name_space, name),
      {name_space, name},
      fmt::format(
          R"({{"apiVersion":"telemetry.intel.com/v1alpha1","kind":"TASPolicy","metadata":{{"name":"{}","namespace":"{}"}},"spec":{{"strategies":{{"dontschedule":{{"rules":[{{"metricname":"m","operator":"GreaterThan","target":{}}}]}}}}}}}})",
          name, name_space, target)};
}
policy_text gone(const std::string& name_space, const std::string& name) {
  return {fmt::format("TASPolicy {}/{}", name_space, name), {name_space, name}, std::nullopt};
}

struct house {
  core whole{{.in_cluster = true}, std::make_shared<metrics::alias_table>(), [](const change&) {}};
  policy_intake intake{whole, std::make_shared<metrics::alias_table>(), logger("test", log_level::off)};
  instant now{1h};

  void put_in_force() {
    REQUIRE(intake.may_be_put_in_force());
    intake.put_objects_in_force(now += 1s);
  }
  /// "loud/a 1, quiet/p 2": with their targets.
  std::string in_force() const {
    std::string out;
    for (const auto& [key, p] : *whole.engine().table())
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", key.text(),
                         canonical(p->strategies.at(0).rules.at(0).definition.target));
    return out;
  }
};

TEST_SUITE("aggregator/policy_intake") {
  TEST_CASE("one text is read at a time, and namespaces take turns") {
    house h;
    h.intake.take_objects({}, "", true);
    h.put_in_force();
    std::vector<policy_text> many;
    for (int i = 0; i < 300; ++i) many.push_back(object("loud", fmt::format("p{:03}", i)));
    h.intake.take_objects(std::move(many), "", true);
    h.intake.take_objects({object("quiet", "p", 2)}, "", true);
    h.intake.read_next();
    h.intake.read_next();
    CHECK(h.intake.waits());
    h.put_in_force();
    CHECK(h.in_force() == "loud/p000 1, quiet/p 2");
    CHECK_MESSAGE(h.intake.objects_taken() == 1, "a text of the second call waits");
    for (int i = 0; i < 299; ++i) {
      CHECK(h.intake.waits());
      h.intake.read_next();
    }
    CHECK_FALSE(h.intake.waits());
    h.put_in_force();
    CHECK(h.whole.engine().table()->size() == 301);
    CHECK(h.intake.objects_taken() == 3);
    CHECK_FALSE(h.intake.may_be_put_in_force());
  }

  TEST_CASE("of an object that is edited again while its text waits only the last text is read") {
    house h;
    h.intake.take_objects({object("loud", "a"), object("loud", "b")}, "", true);
    for (int i = 2; i <= 50; ++i) h.intake.take_objects({object("loud", "b", i)}, "", true);
    h.intake.read_next();
    h.intake.read_next();
    CHECK_FALSE(h.intake.waits());
    h.put_in_force();
    CHECK(h.in_force() == "loud/a 1, loud/b 50");
    CHECK(h.intake.objects_taken() == 50);
  }

  TEST_CASE("an object that goes, or is refused, while its text waits is not read") {
    house h;
    h.intake.take_objects({object("loud", "a"), object("loud", "b"), object("loud", "c")}, "", true);
    policy_text no = gone("loud", "b");
    no.refused = policy_text::refusal{"", "it is too large", "make two of it"};
    h.intake.take_objects({gone("loud", "a"), std::move(no)}, "", true);
    h.intake.read_next();
    CHECK_FALSE(h.intake.waits());
    h.put_in_force();
    CHECK(h.in_force() == "loud/c 1");
    REQUIRE(h.whole.conditions().size() == 1);
    CHECK(h.whole.conditions()[0].what == policy::condition_kind::too_costly);
    CHECK(h.whole.conditions()[0].message == "it is too large; no version of it is in force: make two of it");
    h.intake.take_objects({object("loud", "a", 2)}, "", true);
    h.intake.read_next();
    h.put_in_force();
    CHECK(h.in_force() == "loud/a 2, loud/c 1");
  }

  TEST_CASE("at the start nothing is put in force before all is read, whatever comes meanwhile") {
    house h;
    h.intake.take_objects({object("loud", "a"), object("quiet", "p")}, "", true);
    h.intake.take_objects({object("loud", "b")}, "", true);
    h.intake.read_next();
    CHECK_FALSE(h.intake.may_be_put_in_force());
    CHECK_FALSE(h.whole.policies_read());
    h.intake.read_next();
    h.put_in_force();
    CHECK(h.whole.policies_read());
    CHECK(h.in_force() == "loud/a 1, quiet/p 1");
  }

  TEST_CASE("trouble without a change is said at once") {
    house h;
    h.intake.take_objects({}, "the API server is away", false);
    REQUIRE(h.intake.problems().size() == 1);
    CHECK(h.intake.problems()[0].message == "the API server is away");
    CHECK(h.intake.objects_taken() == 1);
    CHECK_FALSE(h.intake.may_be_put_in_force());
  }

  TEST_CASE(
      "an object that is wrong in everything has its first problems said, and the number of the others") {
    house h;
    policy_text wrong = object("loud", "a");
    wrong.text =
        R"({"apiVersion":"telemetry.intel.com/v1alpha1","kind":"TASPolicy","metadata":{"name":"a"},"spec":{)";
    for (int i = 0; i < 150; ++i) *wrong.text += fmt::format(R"("f{}":1,)", i);
    *wrong.text += R"("strategies":{}}})";
    h.intake.take_objects({std::move(wrong)}, "", true);
    h.intake.read_next();
    h.put_in_force();
    REQUIRE(h.intake.problems().size() == 21);
    CHECK(h.intake.problems().back().message.ends_with(" more problems are not listed: mend these first"));
    CHECK(h.intake.problems().back().level != policy::severity::hint);
  }
}

}  // namespace
}  // namespace policy_intake_test
