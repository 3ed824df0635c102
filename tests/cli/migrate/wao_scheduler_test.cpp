#include "aggregator/policy/text/yaml.hpp"
#include "cli/migrate/migrate.hpp"
#include "cli/migrate/migration.hpp"
#include "tests/cli/migrate/wao_manifests.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

namespace wao_scheduler_test {

using namespace binnacle;
using namespace binnacle::cli::migrate;
using namespace binnacle::cli::migrate::test;

TEST_SUITE("cli/migrate/wao_scheduler") {
  TEST_CASE("WAO's defaults are named where its configuration says nothing") {
    const auto m = of(R"(
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: wao-scheduler
  plugins: {score: {enabled: [{name: MinimizePower}]}}
)");
    const auto strategy = m.objects.at(0)["spec"]["strategies"]["minimizepower"];
    CHECK_FALSE(strategy["podUsageAssumption"]);
    CHECK(sentence(m, "KubeSchedulerConfiguration, profile wao-scheduler, podUsageAssumption",
                   note::fate::dropped)
              .starts_with("was 0.5, WAO's default. WAO takes this share of the pods that are on their way"));
    CHECK(strategy["cpuFormat"].Scalar() == "Percent");
    CHECK_MESSAGE(m.objects.at(0)["metadata"]["namespace"].Scalar() == "default", "no pod was shown");
    CHECK_MESSAGE(fates(m).find("clientConnection") == std::string::npos,
                  "nothing is said of what is not there");
  }

  TEST_CASE("defect: WAO's share of a pod's request went over to the pod that is placed") {
    const std::string subject = "KubeSchedulerConfiguration, profile wao-scheduler, podUsageAssumption";
    for (const char* given : {"0.8", "0", "0.0"}) {
      CAPTURE(given);
      std::string text = scheduler;
      text.replace(text.find("0.8"), 3, given);
      const auto m = of(text);
      CHECK_FALSE(m.objects.at(0)["spec"]["strategies"]["minimizepower"]["podUsageAssumption"]);
      const auto policies = policy::parse_policies("policy.yaml", objects_text(m)).policies;
      REQUIRE(policies.size() == 1);
      CHECK(policies[0].value.strategies.at(0).power.pod_usage == 1);
      const std::string said = sentence(m, subject, note::fate::dropped);
      const std::string was = std::string_view(given) == "0.8" ? "0.8" : "0.5";
      CHECK_MESSAGE(said.starts_with("was " + was), said);
      CHECK_MESSAGE(
          said.ends_with("objective: WaoV2 it means what it does to WAO: podUsageAssumption: " + was), said);
    }
  }

  TEST_CASE(
      "defect: the policy had the cpuFormat of the profile that came last, even of one that knows none") {
    const auto profile = [](const std::string& name, const std::string& plugin, const std::string& args) {
      return fmt::format(R"(
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: {0}
  plugins: {{score: {{enabled: [{{name: {1}}}]}}}}
  pluginConfig: [{{name: {1}, args: {2}}}]
---
)",
                         name, plugin, args);
    };
    const auto format_in = [](const migration& m) {
      const auto policies = policy::parse_policies("policy.yaml", objects_text(m)).policies;
      REQUIRE(policies.size() == 1);
      return policies[0].value.strategies.at(0).power.format;
    };
    const std::string first_version = profile("wao-one", "oc-score-plugin", "{}");
    const std::string subject = "KubeSchedulerConfiguration, profile wao-one, cpuUsageFormat";
    for (const auto& text : {scheduler + first_version, first_version + scheduler}) {
      const auto m = of(text);
      CHECK(format_in(m) == policy::cpu_format::percent);
      CHECK(fates(m).find(subject) == std::string::npos);
    }
    // Models of the first version take shares, so the policy's default is as good as any.
    const auto of_first = of(first_version);
    CHECK_FALSE(of_first.objects.at(0)["spec"]["strategies"]["minimizepower"]["cpuFormat"]);
    CHECK(format_in(of_first) == policy::cpu_format::percent);
    const auto m = of(scheduler + profile("wao-raw", "MinimizePower", "{cpuUsageFormat: Raw}"));
    CHECK(format_in(m) == policy::cpu_format::percent);
    CHECK(sentence(m, "KubeSchedulerConfiguration, profile wao-raw, cpuUsageFormat", note::fate::yours) ==
          "is Raw, but the policy already has Percent, from another profile: give the pods of this profile a "
          "policy of their own, with cpuFormat: Raw");
    // Its pods are not told to take the label of the policy that is not theirs.
    const auto pods = of(scheduler + profile("wao-raw", "MinimizePower", "{cpuUsageFormat: Raw}") +
                         "kind: Pod\nmetadata: {name: p}\nspec: {schedulerName: wao-raw}\n");
    CHECK(sentence(pods, "Pod p", note::fate::yours)
              .starts_with("give its pods the label telemetry-policy: NAME, of a policy as fewer-watts but "
                           "with cpuFormat: Raw, and"));
  }

  TEST_CASE("defect: a cpuUsageFormat that WAO does not know became Raw without a word") {
    const std::string subject = "KubeSchedulerConfiguration, profile wao-scheduler, cpuUsageFormat";
    const auto with = [](const std::string& format) {
      std::string text = scheduler;
      text.replace(text.find("cpuUsageFormat: Percent") + 16, 7, format);
      return of(text);
    };
    const auto format_in = [](const migration& m) {
      return m.objects.at(0)["spec"]["strategies"]["minimizepower"]["cpuFormat"].Scalar();
    };
    const auto lower = with("percent");
    CHECK(format_in(lower) == "Percent");
    CHECK(sentence(lower, subject, note::fate::yours) ==
          "is \"percent\", which is no word of WAO's: its scheduler does not start with it. The strategy has "
          "cpuFormat: Percent, for models that take percent; if yours take cores, write Raw");
    const auto other = with("cores");
    CHECK(format_in(other) == "Percent");
    CHECK(sentence(other, subject, note::fate::yours).ends_with("if yours take cores, write Raw"));
    const auto lower_raw = with("raw");
    CHECK(format_in(lower_raw) == "Raw");
    CHECK(sentence(lower_raw, subject, note::fate::yours).ends_with("if yours take percent, write Percent"));
    for (const char* known : {"Raw", "Percent"})
      CHECK(sentence(with(known), subject, note::fate::carried).size() > 0);
  }

  TEST_CASE("the share of the nodes that WAO's scheduler looked at is kept") {
    const auto with = [](const std::string& field) {
      return of("kind: KubeSchedulerConfiguration\n" + field +
                "profiles: [{schedulerName: wao, plugins: {score: {enabled: [{name: oc-score-plugin}]}}}]\n");
    };
    const std::string subject = "KubeSchedulerConfiguration, percentageOfNodesToScore";
    const auto all = with("percentageOfNodesToScore: 100\n");  // as WAO's first version ships
    CHECK(sentence(all, subject, note::fate::carried).find("default") != std::string::npos);
    // That version counts all that a pod asks for, as the policy does: there is nothing to say.
    CHECK_FALSE(all.objects.at(0)["spec"]["strategies"]["minimizepower"]["podUsageAssumption"]);
    CHECK(fates(all).find("podUsageAssumption") == std::string::npos);
    CHECK_FALSE(all.values["scheduler"]["percentageOfNodesToScore"]);
    const auto some = with("percentageOfNodesToScore: 30\n");
    CHECK(some.values["scheduler"]["percentageOfNodesToScore"].as<int>() == 30);
    CHECK_MESSAGE(fates(with("")).find(subject) == std::string::npos, "nothing is said of what is not there");
  }

  TEST_CASE("defect: a profile's own share of the nodes was lost, and the one that it overrides was kept") {
    const auto m = of(R"(
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 40
profiles:
- {schedulerName: wao, percentageOfNodesToScore: 55, plugins: {score: {enabled: [{name: MinimizePower}]}}}
- {schedulerName: two, percentageOfNodesToScore: 60, plugins: {score: {enabled: [{name: MinimizePower}]}}}
)");
    CHECK(m.values["scheduler"]["percentageOfNodesToScore"].as<int>() == 55);
    const std::string field = ", percentageOfNodesToScore", title = "KubeSchedulerConfiguration";
    CHECK(sentence(m, title + field, note::fate::dropped) ==
          "was 40, and did not count: the profile says 55");
    CHECK(sentence(m, title + ", profile wao" + field, note::fate::carried) ==
          "scheduler.percentageOfNodesToScore");
    CHECK(sentence(m, title + ", profile two" + field, note::fate::yours).starts_with("is 60, and not"));
  }

  TEST_CASE(
      "WAO's plug-ins in the cluster's own scheduler are left to a person, and an extender beside them is "
      "not lost") {
    const auto m = of(R"(
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: MinimizePower}]}}
extenders: [{urlPrefix: "https://gpu:8000", filterVerb: filter}]
---
kind: Pod
metadata: {name: p}
spec: {schedulerName: default-scheduler}
)");
    CHECK(sentence(m, "KubeSchedulerConfiguration, profile default-scheduler", note::fate::yours)
              .find("binnacle-scheduler") != std::string::npos);
    CHECK(sentence(m, "KubeSchedulerConfiguration, extender https://gpu:8000", note::fate::yours)
              .find("another program") != std::string::npos);
    CHECK(sentence(m, "Pod p", note::fate::yours).ends_with("and schedulerName: binnacle-scheduler"));
    CHECK(m.values.size() == 0);
  }
}

}  // namespace wao_scheduler_test
