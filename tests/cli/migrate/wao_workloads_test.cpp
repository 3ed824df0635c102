#include "cli/migrate/migration.hpp"
#include "tests/cli/migrate/wao_manifests.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstddef>
#include <string>

namespace wao_workloads_test {

using namespace binnacle::cli::migrate;
using namespace binnacle::cli::migrate::test;

TEST_SUITE("cli/migrate/wao_workloads") {
  TEST_CASE("defect: what Binnacle goes on to use, and what is the user's own, was said to be deleted") {
    const auto m = of(scheduler + R"(
kind: Namespace
metadata: {name: wao-system}
---
kind: Secret
metadata: {name: wao-pc, namespace: wao-system}
---
kind: Service
metadata: {name: wao-mlserver, namespace: wao-system}
---
kind: Deployment
metadata: {name: mlmm, namespace: wao-system}
spec: {template: {spec: {containers: [{image: "ghcr.io/waok8s/mlmm:v1"}]}}}
---
kind: Deployment
metadata: {name: wao-demo-shop, namespace: shop}
spec: {template: {spec: {schedulerName: wao-scheduler, containers: [{name: app, image: nginx}]}}}
)");
    std::size_t said = 0;
    for (const auto& n : m.notes) {
      if (n.subject.find("onfig") != n.subject.npos || n.subject.starts_with("TASPolicy")) continue;
      ++said;
      CAPTURE(n.subject);
      CAPTURE(n.sentence);
      const bool is_kept = n.sentence.find("keep it") != n.sentence.npos;
      const bool is_labelled = n.sentence.starts_with("give its pods the label");
      CHECK((is_kept || is_labelled));
      CHECK(n.sentence.find("scale it to 0") == n.sentence.npos);
    }
    CHECK(said == 5);
  }

  TEST_CASE(
      "defect: pods of a second profile, and of one that has PodSpread alone, kept a scheduler that ends") {
    const std::string pods = R"(
kind: Deployment
metadata: {name: first}
spec: {template: {spec: {schedulerName: wao-scheduler}}}
---
kind: Deployment
metadata: {name: second}
spec: {template: {spec: {schedulerName: wao-b}}}
---
kind: Deployment
metadata: {name: apart, annotations: {waok8s.github.io/podspread-rate: "0.6"}}
spec: {template: {spec: {schedulerName: wao-spread}}}
---
)";
    const auto m = of(pods + R"(
kind: KubeSchedulerConfiguration
profiles:
- {schedulerName: wao-spread, plugins: {preFilter: {enabled: [{name: PodSpread}]}, filter: {enabled: [{name: PodSpread}]}}}
- {schedulerName: wao-scheduler, plugins: {multiPoint: {enabled: [{name: MinimizePower}]}, filter: {enabled: [{name: PodSpread}]}}}
- {schedulerName: wao-b, plugins: {score: {enabled: [{name: MinimizePower}]}}}
)");
    CHECK(values(m) == "scheduler:\n  name: wao-scheduler\n");
    const std::string needs =
        "give its pods the label telemetry-policy: fewer-watts, and in one container the limit "
        "telemetry/scheduling: \"0\"";
    CHECK(sentence(m, "Deployment first", note::fate::yours) == needs);
    CHECK(sentence(m, "Deployment second", note::fate::yours) ==
          needs + ", and schedulerName: wao-scheduler");
    CHECK(sentence(m, "Deployment apart", note::fate::yours) ==
          "give its pods in one container the limit telemetry/scheduling: \"0\", and schedulerName: "
          "wao-scheduler");
    CHECK(sentence(m, "Deployment apart, podspread-rate 0.6", note::fate::works).size() > 0);
    CHECK(sentence(m, "KubeSchedulerConfiguration, profile wao-spread", note::fate::yours)
              .starts_with("has PodSpread and no MinimizePower."));
    const auto alone = of(pods +
                          "kind: KubeSchedulerConfiguration\nprofiles: [{schedulerName: wao-spread, "
                          "plugins: {filter: {enabled: [{name: PodSpread}]}}}]\n");
    CHECK(sentence(alone, "Deployment apart", note::fate::yours)
              .ends_with("schedulerName: binnacle-scheduler"));
    CHECK_MESSAGE(alone.objects.empty(), "nothing goes by watts");
  }

  TEST_CASE("defect: a podspread-rate that the aggregator refuses was said to work") {
    for (const char* rate : {"60%", "1.5", "half"}) {
      CAPTURE(rate);
      const auto m = of(scheduler + fmt::format(R"(
kind: Deployment
metadata: {{name: web, annotations: {{waok8s.github.io/podspread-rate: "{}"}}}}
spec: {{template: {{spec: {{schedulerName: wao-scheduler}}}}}}
)",
                                                rate));
      CHECK(sentence(m, std::string("Deployment web, podspread-rate ") + rate, note::fate::yours)
                .starts_with("is no number from 0 to 1"));
    }
  }
}

}  // namespace wao_workloads_test
