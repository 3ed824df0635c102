// Migrates WAO's manifests, as its documentation shows them, into a policy, values and notes.
#include "aggregator/policy/text/yaml.hpp"
#include "cli/migrate/migrate.hpp"
#include "cli/migrate/migration.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace wao_test {

using namespace binnacle;
using namespace binnacle::cli;
using namespace binnacle::cli::migrate;

namespace {

migration of(const std::string& text) {
  const auto found = read_manifests("wao.yaml", text);
  REQUIRE(found.has_value());
  return migrate::migrate(*found);
}

/// The fate and subject of every note, one note a line.
std::string fates(const migration& m) {
  std::string out;
  for (const note& n : m.notes) {
    constexpr std::array names{"carried", "works", "dropped", "yours"};
    out += fmt::format("{}: {}\n", names[static_cast<std::size_t>(n.what)], n.subject);
  }
  return out;
}

std::string sentence(const migration& m, const std::string& subject, note::fate what) {
  const auto at =
      std::ranges::find_if(m.notes, [&](const note& n) { return n.subject == subject && n.what == what; });
  CAPTURE(subject);
  REQUIRE(at != m.notes.end());
  return at->sentence;
}

std::string values(const migration& m) {
  const std::string text = values_text(m);
  return text.substr(text.find("defaults.\n") + 10);
}

const std::string scheduler = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: wao-scheduler-config, namespace: kube-system}
data:
  config.yaml: |
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    clientConnection: {qps: 150, burst: 300}
    profiles:
    - schedulerName: wao-scheduler
      plugins:
        multiPoint:
          enabled:
          - {name: MinimizePower, weight: 20}
          - name: PodSpread
      pluginConfig:
      - name: MinimizePower
        args: {metricsCacheTTL: 15s, predictorCacheTTL: 15m, podUsageAssumption: 0.8, cpuUsageFormat: Percent}
---
)";

std::string node_config(const std::string& name, const std::string& predictor) {
  return fmt::format(R"(
apiVersion: node.waok8s.github.io/v1beta1
kind: NodeConfig
metadata: {{name: {0}, namespace: wao-system}}
spec:
  nodeName: {0}
  metricsCollector:
    inletTemp: {{type: Redfish, endpoint: "https://10.0.0.100", basicAuthSecret: {{name: redfish}}, fetchInterval: 10s}}
    deltaP: {{type: DifferentialPressureAPI, endpoint: "http://10.0.0.200:5000", fetchInterval: 10s}}
  predictor: {1}
---
)",
                     name, predictor);
}

const std::string served =
    R"({powerConsumption: {type: V2InferenceProtocol, endpoint: "http://10.0.0.20:8080/v2/models/PC-R650/versions/v0.1.0/infer"}})";

}  // namespace

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

  TEST_CASE("defect: of two NodeConfigs for a node both were said to be read") {
    std::string older = node_config("worker-0", served);
    older.replace(older.find("node.waok8s.github.io"), 21, "wao.bitmedia.co.jp");
    older.replace(older.find("10.0.0.20:"), 9, "10.0.0.21");
    const std::string faulty = node_config("a", "{}");
    for (const auto& text : {node_config("worker-0", served) + older, older + node_config("worker-0", served),
                             older + node_config("worker-0", served) + faulty}) {
      const auto m = of(text);
      CHECK(values(m) == "aggregator:\n  modelServers:\n    - 10.0.0.20:8080\n");
      CHECK(sentence(m, "NodeConfig worker-0 (wao.bitmedia.co.jp/v1beta1)", note::fate::yours) ==
            "NodeConfig wao-system/worker-0 (node.waok8s.github.io) is for the node worker-0, too, and goes "
            "before it: delete one of them");
      CHECK(fates(m).find("works: 1 NodeConfig or") != std::string::npos);
    }
  }

  TEST_CASE(
      "a template whose nodes share a server names it, and one whose nodes do not is left to a person") {
    const auto templated = [](const std::string& endpoint) {
      return fmt::format(R"(
apiVersion: node.waok8s.github.io/v1beta1
kind: NodeConfigTemplate
metadata: {{name: r650, namespace: wao-system}}
spec:
  nodeSelector: {{matchLabels: {{kind: r650}}}}
  template:
    metricsCollector: {{inletTemp: {{type: Fake, endpoint: ""}}, deltaP: {{type: Fake, endpoint: ""}}}}
    predictor: {{powerConsumption: {{type: V2InferenceProtocol, endpoint: "{}"}}}}
)",
                         endpoint);
    };
    const std::string title = "NodeConfigTemplate r650";
    auto m = of(templated("http://models:8080/v2/models/{{.Hostname}}"));
    CHECK(values(m).find("models:8080") != std::string::npos);
    m = of(templated("http://{{.Hostname}}:8080/v2/models/m"));
    CHECK(m.values.size() == 0);
    CHECK(sentence(m, title, note::fate::yours).ends_with("as HOST:PORT or as *.SUFFIX:8080"));
    for (const char* of_its_own :
         {"http://{{.IPv4.Address}}:8080/v2/models/m", "http://{{.Hostname}}:{{.IPv4.Octet3}}/v2/models/m"}) {
      m = of(templated(of_its_own));
      CHECK_MESSAGE(sentence(m, title, note::fate::yours).ends_with("as HOST:PORT"),
                    "an address has no suffix, and no port is that of all nodes");
    }
    m = of(templated("http://{{ lower .Hostname }}/v2/models/m"));
    CHECK(sentence(m, title, note::fate::yours).find("is not filled in") != std::string::npos);
    CHECK(m.objects.empty());
  }

  TEST_CASE("defect: a template that uses part of an address gave the values servers that nobody has") {
    const auto with = [](const std::string& host, const std::string& secret) {
      return of(fmt::format(R"(
apiVersion: node.waok8s.github.io/v1beta1
kind: NodeConfigTemplate
metadata: {{name: r650, namespace: wao-system}}
spec:
  nodeSelector: {{matchLabels: {{kind: r650}}}}
  template:
    predictor:
      powerConsumption: {{type: V2InferenceProtocol, endpoint: 'https://{}/v2/models/m', basicAuthSecret: {{name: '{}'}}}}
)",
                            host, secret));
    };
    const auto is_each = [](const note& n) { return n.sentence.starts_with("each node has a "); };
    for (const char* action :
         {"{{.IPv4.Octet1}}", "{{.IPv4.Octet2}}", "{{.IPv4.Octet3}}", "{{.IPv4.Octet4}}", "{{.IPv4.Address}}",
          "{{ add .IPv4.Octet1 1 }}", "{{ add .IPv4.Octet2 .IPv4.Octet3 }}", "{{.Hostname}}",
          "{{ trimPrefix \"one.\" .Hostname }}"}) {
      CAPTURE(action);
      const auto m = with("m10." + std::string(action) + ".0.1", "of-" + std::string(action) + "-x");
      CHECK_MESSAGE(m.values.size() == 0, values(m));
      CHECK_MESSAGE(std::ranges::count_if(m.notes, is_each) == 2, "of the server and of the Secret");
    }
    const auto port = with("models:{{.IPv4.Octet2}}", "pc");
    CHECK(values(port).find("modelServers:") == std::string::npos);
    CHECK(std::ranges::count_if(port.notes, is_each) == 1);
  }

  TEST_CASE("defect: an endpoint whose scheme has capitals was said to be no URL") {
    const auto m = of(node_config(
        "a",
        R"({powerConsumption: {type: V2InferenceProtocol, endpoint: "HTTP://Models.Example/v2/models/m"}})"));
    CHECK(values(m) == "aggregator:\n  modelServers:\n    - Models.Example:80\n");
    CHECK(fates(m).find("yours: NodeConfig") == std::string::npos);
  }

  TEST_CASE("defect: a NodeConfig without a node, or whose Secret is not read, was said to be read") {
    const auto guarded = [](const std::string& name) {
      return node_config(
          name,
          R"({powerConsumption: {type: V2InferenceProtocol, endpoint: "https://h/v2/models/m", basicAuthSecret: {name: pc}}})");
    };
    std::string of_none = node_config("none", served), elsewhere = guarded("b");
    of_none.replace(of_none.find("nodeName: none"), 14, "nodeName: \"\"");
    elsewhere.replace(elsewhere.find("wao-system"), 10, "team");
    const auto m = of(guarded("a") + elsewhere + of_none);
    CHECK(sentence(m, "NodeConfig none", note::fate::yours) ==
          "names no node, so that it does nothing: write spec.nodeName, or delete it");
    CHECK_MESSAGE(values(m).find("10.0.0.20") == std::string::npos, "nobody asks its server");
    CHECK(sentence(m, "NodeConfig b", note::fate::yours).find("its Secret team/pc is not read") !=
          std::string::npos);
    CHECK(sentence(m, "1 NodeConfig or NodeConfigTemplate object", note::fate::works).size() > 0);
    const auto templated = [](const std::string& secret) {
      return fmt::format(R"(
apiVersion: node.waok8s.github.io/v1beta1
kind: NodeConfigTemplate
metadata: {{name: r650, namespace: team}}
spec:
  nodeSelector: {{}}
  template:
    predictor: {{powerConsumption: {{type: V2InferenceProtocol, endpoint: "https://h/v2/models/m", basicAuthSecret: {{name: "{}"}}}}}}
)",
                         secret);
    };
    for (const char* secret : {"pc", "of-{{.Hostname}}"})
      CHECK_MESSAGE(
          fates(of(guarded("a") + templated(secret))).find("works: 1 NodeConfig or") != std::string::npos,
          secret);
  }

  TEST_CASE("defect: nothing was said of a template whose swapped arguments give all nodes one server") {
    const auto with = [](const std::string& action) {
      return of(fmt::format(R"(
apiVersion: node.waok8s.github.io/v1beta1
kind: NodeConfigTemplate
metadata: {{name: r650}}
spec:
  nodeSelector: {{}}
  template:
    predictor: {{powerConsumption: {{type: V2InferenceProtocol, endpoint: 'http://m-{}.models/v2/models/m'}}}}
)",
                            action));
    };
    CHECK(sentence(with(R"({{ trimPrefix .Hostname "worker-" }}x)"), "NodeConfigTemplate r650",
                   note::fate::yours) ==
          "{{ trimPrefix .Hostname \"worker-\" }} is \"worker-\" for every node: trimPrefix takes first what "
          "it "
          "cuts off, and then the text");
    for (const char* fine : {R"({{ trimPrefix "worker-" .Hostname }})", "{{ add 1 2 }}", "a"}) {
      const auto m = with(fine);
      CHECK_MESSAGE(std::ranges::none_of(
                        m.notes, [](const note& n) { return n.sentence.find("every") != n.sentence.npos; }),
                    fine);
    }
  }

  TEST_CASE("what Binnacle does not ask is said of each object, with the way out") {
    const auto m = of(
        node_config("a", R"({powerConsumptionEndpointProvider: {type: Fake, endpoint: ""}})") +
        node_config(
            "b",
            R"({powerConsumption: {type: V2InferenceProtocol, endpoint: "http://h/v2/models/m", basicAuthSecret: {name: s}}})") +
        node_config("c",
                    R"({powerConsumption: {type: V2InferenceProtocol, endpoint: "https://h/v2/models/m"}})"));
    CHECK(sentence(m, "NodeConfig a", note::fate::yours).find("and only Redfish is asked") !=
          std::string::npos);
    CHECK(sentence(m, "NodeConfig b", note::fate::yours).find("use https or grpcs") != std::string::npos);
    CHECK(sentence(m, "NodeConfig c", note::fate::yours).find("aggregator.modelServersCa") !=
          std::string::npos);
    CHECK(values(m).find("h:443") != std::string::npos);
  }

  TEST_CASE("an endpoint provider's server and Secret are carried over, and the model's server is told of") {
    const std::string provider =
        R"(powerConsumptionEndpointProvider: {type: Redfish, endpoint: "https://10.0.0.7", basicAuthSecret: {name: bmc}})";
    const std::string guarded = R"(powerConsumption: {type: "", endpoint: "", basicAuthSecret: {name: pc}})";
    const auto m =
        of(node_config("a", "{" + provider + "}") + node_config("b", "{" + provider + ", " + guarded + "}") +
           node_config("c", "{" + provider + ", " + served.substr(1)));
    CHECK(values(m) == R"(aggregator:
  modelServers:
    - 10.0.0.7:443
    - 10.0.0.20:8080
  modelServersSecrets:
    namespace: wao-system
    names:
      - bmc
      - pc
)");
    CHECK(sentence(m, "NodeConfig a", note::fate::yours).find("aggregator.modelServersCa") !=
          std::string::npos);
    CHECK(sentence(m, "powerConsumptionEndpointProvider", note::fate::yours)
              .find("The server of the model that it names must be in aggregator.modelServers, too") !=
          std::string::npos);
    const auto is_about_all = [](const note& n) { return n.subject == "powerConsumptionEndpointProvider"; };
    CHECK_MESSAGE(std::ranges::count_if(m.notes, is_about_all) == 1, "once for all");
    CHECK(fates(m).find("works: 3 NodeConfig or NodeConfigTemplate objects") != std::string::npos);
  }

  TEST_CASE("a template whose nodes share an endpoint provider names it, and else a person does") {
    const auto templated = [](const std::string& host, const std::string& secret) {
      return fmt::format(R"(
apiVersion: node.waok8s.github.io/v1beta1
kind: NodeConfigTemplate
metadata: {{name: r650, namespace: wao-system}}
spec:
  nodeSelector: {{matchLabels: {{kind: r650}}}}
  template:
    predictor:
      powerConsumption: {{type: "{{{{.Hostname}}}}", endpoint: ""}}
      powerConsumptionEndpointProvider: {{type: Redfish, endpoint: "https://{}", basicAuthSecret: {{name: "{}"}}}}
)",
                         host, secret);
    };
    const auto shared = of(templated("mlmm:8443", "bmc"));
    CHECK(values(shared) == R"(aggregator:
  modelServers:
    - mlmm:8443
  modelServersSecrets:
    namespace: wao-system
    names:
      - bmc
)");
    const auto each = of(templated("10.0.0.{{.IPv4.Octet4}}", "of-{{.Hostname}}"));
    CHECK(each.values.size() == 0);
    std::string said;
    for (const note& n : each.notes) said += n.subject == "NodeConfigTemplate r650" ? n.sentence + "\n" : "";
    CHECK_MESSAGE(said.find("each node has an endpoint provider of its own: name them in "
                            "aggregator.modelServers, as HOST:PORT\n") != said.npos,
                  said);
    CHECK_MESSAGE(said.find("each of them speaks TLS") != said.npos, said);
    CHECK_MESSAGE(said.find("each node has a Secret of its own") != said.npos, said);
  }

  TEST_CASE("a Secret that an object names may be read from now on, and one of another namespace may not") {
    const auto guarded = [](const std::string& name, const std::string& secret) {
      return node_config(
          name,
          fmt::format(
              R"({{powerConsumption: {{type: V2InferenceProtocol, endpoint: "https://h/v2/models/m", basicAuthSecret: {{name: {}}}}}}})",
              secret));
    };
    std::string elsewhere = guarded("d", "pc");
    elsewhere.replace(elsewhere.find("wao-system"), 10, "team");
    const auto m = of(guarded("a", "pc") + guarded("b", "pc") + guarded("c", "pc-2") + elsewhere);
    CHECK(values(m) == R"(aggregator:
  modelServers:
    - h:443
  modelServersSecrets:
    namespace: wao-system
    names:
      - pc
      - pc-2
)");
    CHECK(sentence(m, "NodeConfig d", note::fate::yours).find("its Secret team/pc is not read") !=
          std::string::npos);
    const auto templated = [](const std::string& secret) {
      return fmt::format(R"(
apiVersion: node.waok8s.github.io/v1beta1
kind: NodeConfigTemplate
metadata: {{name: r650, namespace: wao-system}}
spec:
  nodeSelector: {{}}
  template:
    predictor: {{powerConsumption: {{type: V2InferenceProtocol, endpoint: "https://h/v2/models/m", basicAuthSecret: {{name: "{}"}}}}}}
)",
                         secret);
    };
    CHECK(values(of(templated("pc"))).find("- pc") != std::string::npos);
    const auto each = of(templated("of-{{.Hostname}}"));
    CHECK(values(each).find("modelServersSecrets") == std::string::npos);
    const auto says = [](const migration& of, std::string_view words) {
      return std::ranges::any_of(of.notes, [&](const note& n) {
        return n.what == note::fate::yours && n.sentence.find(words) != n.sentence.npos;
      });
    };
    CHECK(says(each, "each node has a Secret of its own"));
    // Whichever comes first has the namespace. The advice about the other is to move it there.
    const auto second = of(elsewhere + templated("of-{{.Hostname}}"));
    CHECK(says(second, "its Secrets are not read, only those of the namespace team: move"));
    CHECK_FALSE(says(second, "each node has a Secret of its own"));
    const auto first = of(templated("of-{{.Hostname}}") + "---\n" + elsewhere);
    CHECK(says(first, "each node has a Secret of its own"));
    CHECK(says(first, "its Secret team/pc is not read, only those of the namespace wao-system: move"));
  }

  TEST_CASE("labels of WAO's first version name a server of TensorFlow Serving, once for all nodes") {
    const auto node = [](const std::string& name, const std::string& more) {
      return fmt::format(R"(
kind: Node
metadata:
  name: {}
  labels: {{tensorflow/host: tensorflow-service, tensorflow/port: "8500", tensorflow/name: konohana, tensorflow/version: "101",
            tensorflow/signature: konohana, ambient/min: "10", ambient/max: "40", cpu1/min: "20", cpu1/max: "90", cpu2/min: "20"{}}}
---
)",
                         name, more);
    };
    const auto m = of(node("a", ", cpu2/max: \"90\"") + node("b", ", cpu2/max: \"90\"") +
                      node("c", ", cpu2/max: \"20\"") + "kind: Node\nmetadata: {name: plain}\n");
    CHECK(values(m) == "aggregator:\n  modelServers:\n    - tensorflow-service:8500\n");
    CHECK(fates(m) == R"(carried: Node a
yours: Node c
works: labels of 2 nodes
yours: TASPolicy fewer-watts
)");
    CHECK(sentence(m, "labels of 2 nodes", note::fate::works).find("asked by gRPC as before") !=
          std::string::npos);
    CHECK_MESSAGE(
        fates(of(node("a", ", cpu2/max: \"90\""))).find("works: labels of 1 node\n") != std::string::npos,
        "defect: of 1 nodes");
    std::string rest = node("a", ", cpu2/max: \"90\"");
    rest.replace(rest.find("8500"), 4, "8501");
    CHECK(sentence(of(rest), "Node a", note::fate::yours).find("--rest_api_port=8501") != std::string::npos);
    CHECK(sentence(m, "Node c", note::fate::yours).find("cpu2/min and cpu2/max are equal") !=
          std::string::npos);
    std::string unread = node("a", ", cpu2/max: \"90\"");
    unread.replace(unread.find("\"101\""), 5, "v1101");
    CHECK(sentence(of(unread), "Node a", note::fate::yours).find("tensorflow/version is \"v1101\"") !=
          std::string::npos);
  }

  TEST_CASE("defect: of labels with a wrong span the server was not allowed, and no other fault was said") {
    const auto node = [](const std::string& labels) {
      return of(
          "kind: Node\nmetadata:\n  name: a\n  labels: {tensorflow/host: models, tensorflow/port: "
          "\"8500\", " +
          labels + "}\n");
    };
    const auto m = node(
        R"(tensorflow/name: pc, tensorflow/version: v7, ambient/min: "20", ambient/max: "20", cpu1/min: "1")");
    CHECK(values(m) == "aggregator:\n  modelServers:\n    - models:8500\n");
    std::string said;
    for (const note& n : m.notes) said += n.what == note::fate::yours ? n.sentence + "\n" : "";
    for (const char* part : {"ambient/min and ambient/max are equal", "cpu1/max is missing",
                             "cpu2/min is missing", "tensorflow/version is \"v7\""})
      CHECK_MESSAGE(said.find(part) != said.npos, said);
    CHECK_MESSAGE(fates(m).find("works") == std::string::npos, "it is not read as it is");
    CHECK_MESSAGE(node("ambient/min: \"20\"").values.size() == 0, "without a name there is no model to ask");
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

}  // namespace wao_test
