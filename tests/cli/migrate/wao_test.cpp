// Migrates WAO's manifests, as its documentation shows them, into a policy, values and notes.
#include "aggregator/policy/text/yaml.hpp"
#include "cli/migrate/migrate.hpp"
#include "cli/migrate/migration.hpp"
#include "tests/cli/migrate/wao_manifests.hpp"

#include <doctest/doctest.h>

#include <string>

namespace wao_test {

using namespace binnacle;
using namespace binnacle::cli::migrate;
using namespace binnacle::cli::migrate::test;

TEST_SUITE("cli/migrate/wao") {
  TEST_CASE("an installation of WAO's second version becomes a policy, values and a word about each part") {
    const auto m = of(scheduler + node_config("worker-0", served) + node_config("worker-1", served) + R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, annotations: {waok8s.github.io/podspread-rate: "0.6"}}
spec: {template: {spec: {schedulerName: wao-scheduler, containers: [{name: app, image: web}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: other, namespace: shop}
spec: {template: {spec: {schedulerName: other-scheduler, containers: [{name: app, image: web}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: wao-scheduler, namespace: kube-system}
spec: {template: {spec: {containers: [{name: s, image: "ghcr.io/waok8s/wao-scheduler:v1.31.0"}]}}}
---
kind: ClusterRole
metadata: {name: wao-core-manager-role}
---
kind: APIService
metadata: {name: v1beta2.custom.metrics.k8s.io}
---
kind: CustomResourceDefinition
metadata: {name: nodeconfigs.node.waok8s.github.io}
---
kind: Deployment
metadata: {name: metrics-server, namespace: kube-system}
spec: {template: {spec: {containers: [{image: "registry.k8s.io/metrics-server/metrics-server:v0.7.0"}]}}}
)");
    CHECK(values(m) == R"(scheduler:
  name: wao-scheduler
aggregator:
  modelServers:
    - 10.0.0.20:8080
)");
    CHECK(objects_text(m) == R"(apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata:
  name: fewer-watts
  namespace: shop
spec:
  strategies:
    minimizepower:
      cpuFormat: Percent
)");
    const auto read = policy::parse_policies("policy.yaml", objects_text(m));
    CHECK(read.problems.empty());
    REQUIRE(read.policies.size() == 1);
    CHECK(fates(m) == R"(dropped: KubeSchedulerConfiguration, profile wao-scheduler, podUsageAssumption
carried: KubeSchedulerConfiguration, profile wao-scheduler, cpuUsageFormat
dropped: KubeSchedulerConfiguration, profile wao-scheduler, metricsCacheTTL
dropped: KubeSchedulerConfiguration, profile wao-scheduler, predictorCacheTTL
dropped: KubeSchedulerConfiguration, profile wao-scheduler, weight 20 of MinimizePower
carried: KubeSchedulerConfiguration, profile wao-scheduler, PodSpread
carried: KubeSchedulerConfiguration, profile wao-scheduler
dropped: KubeSchedulerConfiguration, clientConnection
dropped: ConfigMap wao-scheduler-config
carried: NodeConfig worker-0
dropped: metricsCollector.inletTemp of type Redfish
yours: metricsCollector.deltaP of type DifferentialPressureAPI
yours: Deployment web
works: Deployment web, podspread-rate 0.6
yours: Deployment other
yours: Deployment wao-scheduler
dropped: ClusterRole wao-core-manager-role
yours: APIService v1beta2.custom.metrics.k8s.io
works: CustomResourceDefinition nodeconfigs.node.waok8s.github.io
works: Deployment metrics-server
works: 2 NodeConfig or NodeConfigTemplate objects
yours: TASPolicy fewer-watts
)");
    CHECK(sentence(m, "Deployment web", note::fate::yours) ==
          "give its pods the label telemetry-policy: fewer-watts, and in one container the limit "
          "telemetry/scheduling: \"0\"");
    const auto report = report_text(m, {}, 100);
    CHECK(report.ends_with(objects_text(m)));
    CHECK(as_json(m).find(R"("objects":"apiVersion: telemetry.intel.com/v1alpha1\n)") != std::string::npos);
  }

  TEST_CASE("defect: the load's form was guessed without a word where no file holds WAO's configuration") {
    const std::string subject = "TASPolicy fewer-watts, cpuFormat";
    const auto m = of(node_config("worker-0", served));
    CHECK_FALSE(m.objects.at(0)["spec"]["strategies"]["minimizepower"]["cpuFormat"]);
    CHECK(sentence(m, subject, note::fate::yours).find("give the ConfigMap, too") != std::string::npos);
    const auto of_first = of(R"(
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: wao, plugins: {score: {enabled: [{name: oc-score-plugin}]}}}]
---
)" + node_config("worker-0", served));
    CHECK(sentence(of_first, subject, note::fate::yours).ends_with("write cpuFormat: Raw"));
    CHECK(fates(of(scheduler + node_config("worker-0", served))).find(subject) == std::string::npos);
  }
}

}  // namespace wao_test
