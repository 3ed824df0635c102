#include "cli/migrate/migration.hpp"

#include "cli/migrate/migrate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

namespace migration_test {

using namespace binnacle;
using namespace binnacle::cli;
using namespace binnacle::cli::migrate;

namespace {

migration of(const std::string& text) {
  const auto found = read_manifests("old.yaml", text);
  REQUIRE(found.has_value());
  return migrate::migrate(*found);
}

/// The one note about `subject`.
note about(const migration& m, const std::string& subject) {
  const auto found =
      std::find_if(m.notes.begin(), m.notes.end(), [&](const note& n) { return n.subject == subject; });
  CAPTURE(subject);
  REQUIRE(found != m.notes.end());
  return *found;
}

const std::string deployment = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: telemetry-aware-scheduling, namespace: telemetry-aware-scheduling}
spec:
  replicas: 1
  template:
    spec:
      imagePullSecrets: [{name: site-registry}]
      nodeSelector: {rack: "7"}
      tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists}]
      containers:
      - name: tasext
        image: registry.example/intel/telemetry-aware-scheduling:0.7.0
        command: [/extender, --syncPeriod=2s, -port, "9001", --cacert=/ca.crt, --v=4, --frobnicate]
)";

}  // namespace

TEST_SUITE("cli/migrate") {
  TEST_CASE("TAS's flags and placement become values, or a reason why not") {
    const auto m = of(deployment);
    CHECK(m.values["aggregator"]["settings"]["log-level"].Scalar() == "debug");
    CHECK(values_text(m).find(R"(nodeSelector: {rack: "7"})") != std::string::npos);
    CHECK(m.values["aggregator"]["tolerations"][0]["operator"].Scalar() == "Exists");
    CHECK(m.values["image"]["pullSecrets"][0].Scalar() == "site-registry");
    const std::string whose = "Deployment telemetry-aware-scheduling";
    CHECK(about(m, whose + ", --syncPeriod=2s").what == note::fate::dropped);
    CHECK(about(m, whose + ", --cacert=/ca.crt").what == note::fate::dropped);
    CHECK(about(m, whose + ", --v=4").what == note::fate::carried);
    CHECK(about(m, whose + ", --frobnicate").what == note::fate::dropped);
    CHECK(about(m, whose).what == note::fate::yours);
    for (const auto& [level, fate] :
         {std::pair("3", note::fate::works), std::pair("10", note::fate::carried)}) {
      std::string other = deployment;
      other.replace(other.find("--v=4"), 5, std::string("--v=") + level);
      CHECK(about(of(other), whose + ", --v=" + level).what == fate);
    }
    // A port with its default value needs no note.
    CHECK(std::none_of(m.notes.begin(), m.notes.end(),
                       [](const note& n) { return n.subject.find("port") != std::string::npos; }));
  }

  TEST_CASE("an image with a name of its own is recognised by TAS's flag") {
    const auto m =
        of("kind: Deployment\nmetadata: {name: ours}\nspec: {template: {spec: {containers: [{image: x, "
           "args: [--syncPeriod=1s]}]}}}\n");
    CHECK(about(m, "Deployment ours").what == note::fate::yours);
    CHECK(about(m, "Deployment ours, --syncPeriod=1s").what == note::fate::dropped);
  }

  TEST_CASE("defect: a scheduler's configuration that is no YAML was said to be nothing of Binnacle's") {
    const auto m = of(R"(kind: ConfigMap
metadata: {name: scheduler-config}
data:
  config.yaml: |
    kind: KubeSchedulerConfiguration
    profiles: [{schedulerName: wao
    extenders: 7
---
kind: ConfigMap
metadata: {name: another}
data:
  text: "kind: [of prose"
)");
    const note said = about(m, "ConfigMap scheduler-config");
    CHECK(said.what == note::fate::yours);
    CHECK_MESSAGE(said.sentence.starts_with("line 3 of its entry config.yaml is no YAML: "), said.sentence);
    CHECK_MESSAGE(said.sentence.ends_with("carried over: mend it, and give it again"), said.sentence);
    CHECK(about(m, "ConfigMap another").sentence.starts_with("is nothing that Binnacle replaces"));
    CHECK_MESSAGE(m.notes.size() == 2, "one about each");
  }

  TEST_CASE("the scheduler's configuration, also out of a ConfigMap") {
    const std::string configuration = R"(kind: KubeSchedulerConfiguration
profiles: [{schedulerName: NAME}]
extenders:
- urlPrefix: https://tas:9001
  filterVerb: scheduler/filter
  weight: WEIGHT
  httpTimeout: 2s
  IGNORABLE
  managedResources: [{name: telemetry/scheduling, ignoredByScheduler: true}]
- urlPrefix: https://gpu:8000
  filterVerb: filter
)";
    const auto with = [&](std::string name, std::string weight, std::string ignorable) {
      std::string text = configuration;
      text.replace(text.find("NAME"), 4, name);
      text.replace(text.find("WEIGHT"), 6, weight);
      text.replace(text.find("IGNORABLE"), 9, ignorable);
      return text;
    };
    SUBCASE("a scheduler of its own") {
      const auto m = of(with("power-scheduler", "50", "ignorable: true"));
      CHECK(m.values["scheduler"]["name"].Scalar() == "power-scheduler");
      CHECK(m.values["scheduler"]["weight"].Scalar() == "50");
      CHECK(m.values["scheduler"]["timeout"].Scalar() == "2s");
      CHECK_FALSE(m.values["scheduler"]["ignorable"]);
      CHECK(about(m, "KubeSchedulerConfiguration, extender https://gpu:8000").what == note::fate::yours);
    }
    SUBCASE("in the cluster's scheduler, with TAS's weight") {
      const auto m = of(with("default-scheduler", "1", "ignorable: false"));
      CHECK_FALSE(m.values["scheduler"]["name"]);
      CHECK_FALSE(m.values["scheduler"]["weight"]);
      CHECK(m.values["scheduler"]["ignorable"].Scalar() == "false");
      CHECK(about(m, "KubeSchedulerConfiguration").what == note::fate::yours);
    }
    SUBCASE("in a ConfigMap") {
      std::string indented;
      std::istringstream lines(with("power-scheduler", "7", "ignorable: true"));
      for (std::string line; std::getline(lines, line);) indented += "    " + line + '\n';
      const auto m = of("kind: ConfigMap\nmetadata: {name: c}\ndata:\n  scheduler.yaml: |\n" + indented);
      CHECK(m.values["scheduler"]["weight"].Scalar() == "7");
    }
  }

  TEST_CASE("defect: the share of nodes of a second scheduler's configuration was lost without a word") {
    const auto with = [](const std::string& field, const std::string& profile) {
      return "---\nkind: KubeSchedulerConfiguration\n" + field +
             "extenders: [{filterVerb: scheduler/filter, weight: 50}]\nprofiles: [{schedulerName: " +
             profile + "}]\n";
    };
    const std::string subject = "KubeSchedulerConfiguration, percentageOfNodesToScore";
    const auto notes = [&](const migration& m) {
      return std::count_if(m.notes.begin(), m.notes.end(),
                           [&](const note& n) { return n.subject == subject; });
    };
    const std::string first = with("percentageOfNodesToScore: 40\n", "a");
    const auto m = of(first + with("percentageOfNodesToScore: 55\n", "b"));
    CHECK(m.values["scheduler"]["percentageOfNodesToScore"].Scalar() == "40");
    CHECK(about(m, subject).what == note::fate::carried);
    REQUIRE(notes(m) == 2);
    const auto second =
        std::find_if(m.notes.rbegin(), m.notes.rend(), [&](const note& n) { return n.subject == subject; });
    CHECK(second->what == note::fate::yours);
    CHECK(
        second->sentence ==
        "is 55, and not carried over: the chart has one scheduler, and 40 is that of another configuration");
    CHECK_MESSAGE(notes(of(first + with("percentageOfNodesToScore: 40\n", "b"))) == 1, "nothing is lost");
    CHECK(notes(of(first + with("", "b"))) == 1);
    const auto late = of(with("", "a") + with("percentageOfNodesToScore: 55\n", "b"));
    CHECK(late.values["scheduler"]["percentageOfNodesToScore"].Scalar() == "55");
  }

  TEST_CASE("defect: another profile's share of the nodes was taken for that of WAO's") {
    const auto m = of(R"(kind: KubeSchedulerConfiguration
extenders: [{filterVerb: scheduler/filter}]
profiles:
- {schedulerName: other, percentageOfNodesToScore: 30}
- {schedulerName: wao, plugins: {score: {enabled: [{name: MinimizePower}]}}}
)");
    CHECK_FALSE(m.values["scheduler"]["percentageOfNodesToScore"]);
  }

  TEST_CASE("policies apply as they are; who brings their metrics is said of each") {
    const auto m = of(R"(
apiVersion: v1
kind: List
items:
- kind: TASPolicy
  metadata: {name: power}
  spec:
    strategies:
      dontschedule: {rules: [{metricname: package_power_avg, operator: GreaterThan, target: 60}]}
      scheduleonmetric: {rules: [{metricname: os_load1, operator: LessThan}]}
      deschedule: {rules: [{metricname: node_health_metric, operator: Equals, target: 2}]}
)");
    CHECK(about(m, "TASPolicy power, package_power_avg").what == note::fate::works);
    CHECK(about(m, "TASPolicy power, os_load1").sentence == "built in");
    const auto own = about(m, "TASPolicy power, node_health_metric");
    CHECK(own.what == note::fate::yours);
    CHECK(own.sentence.find("node_health_metric or health_metric in a *.prom file") != std::string::npos);
  }

  TEST_CASE("collectd's plug-ins and node-exporter's folder") {
    const auto m = of(R"(
kind: ConfigMap
metadata: {name: collectd-config}
data:
  collectd.conf: |
    LoadPlugin cpu
    LoadPlugin "ipmi"
    LoadPlugin intel_rdt
    LoadPlugin write_prometheus
    <LoadPlugin python>
      Interval 5
    </LoadPlugin>
    LoadPlugin smart
---
kind: DaemonSet
metadata: {name: collectd}
spec: {template: {spec: {containers: [{image: opnfv/barometer-collectd}]}}}
---
kind: DaemonSet
metadata: {name: node-exporter}
spec:
  template:
    spec:
      containers:
      - image: quay.io/prometheus/node-exporter:v1.8.0
        args: [--collector.textfile.directory=/host/prom/own]
        volumeMounts: [{name: prom, mountPath: /host/prom}]
      volumes: [{name: prom, hostPath: {path: /var/lib/node-metrics}}]
)");
    CHECK(m.values["agent"]["ipmi"]["enabled"].Scalar() == "true");
    CHECK(m.values["agent"]["settings"]["sources"].size() == 8);
    CHECK(m.values["agent"]["textfileDirectory"].Scalar() == "/var/lib/node-metrics/own");
    CHECK(about(m, "ConfigMap collectd-config, LoadPlugin cpu").what == note::fate::works);
    CHECK(about(m, "ConfigMap collectd-config, LoadPlugin python").what == note::fate::works);
    CHECK(about(m, "ConfigMap collectd-config, LoadPlugin write_prometheus").what == note::fate::dropped);
    CHECK(about(m, "ConfigMap collectd-config, LoadPlugin smart").what == note::fate::yours);
    CHECK(about(m, "DaemonSet collectd").what == note::fate::yours);
  }

  TEST_CASE("a secret is judged by its certificate, in base64 or plain") {
    const std::string subject = "Secret extender-secret";
    const std::string head = "kind: Secret\nmetadata: {name: extender-secret}\n";
    CHECK(
        about(of(head + "stringData: {tls.crt: words}"), subject).sentence.starts_with("its tls.crt cannot"));
    CHECK(about(of(head + "data: {tls.crt: d29yZHM=}"), subject).sentence.starts_with("its tls.crt cannot"));
  }

  TEST_CASE("programs that carried the values are named, and so are manifests that nobody knows") {
    const auto m = of(R"(
kind: APIService
metadata: {name: v1beta1.custom.metrics.k8s.io}
---
kind: Deployment
metadata: {name: custom-metrics-apiserver}
---
kind: StatefulSet
metadata: {name: prometheus-server}
---
kind: Namespace
metadata: {name: monitoring}
---
kind: CronJob
metadata: {name: backup}
)");
    CHECK(about(m, "APIService v1beta1.custom.metrics.k8s.io").what == note::fate::yours);
    CHECK(about(m, "Deployment custom-metrics-apiserver").what == note::fate::dropped);
    CHECK(about(m, "StatefulSet prometheus-server").what == note::fate::yours);
    CHECK(about(m, "CronJob backup").what == note::fate::yours);
    CHECK(m.notes.size() == 4);
    CHECK(m.values.size() == 0);
  }

  TEST_CASE("pods that require a node without a policy's label: a kubelet's restart would fail them") {
    const std::string affinity =
        "affinity: {nodeAffinity: {KIND: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, "
        "values: [ssd]}, {key: no-heat, operator: OPERATOR, values: [VALUE]}]}]}}}";
    const auto with = [&](std::string kind, std::string affinity_kind, std::string op, std::string value) {
      std::string text = affinity;
      text.replace(text.find("KIND"), 4, affinity_kind);
      text.replace(text.find("OPERATOR"), 8, op);
      text.replace(text.find("VALUE"), 5, value);
      const std::string head = "kind: " + kind + "\nmetadata: {name: web, namespace: shop}\n";
      if (kind == "Pod") return head + "spec: {" + text + "}\n";
      if (kind == "CronJob")
        return head + "spec: {jobTemplate: {spec: {template: {spec: {" + text + "}}}}}\n";
      return head + "spec: {template: {spec: {" + text + "}}}\n";
    };
    const std::string required = "requiredDuringSchedulingIgnoredDuringExecution";
    for (const std::string kind :
         {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod"}) {
      CAPTURE(kind);
      const auto m = of(with(kind, required, "NotIn", "violating"));
      const auto said = about(m, kind + " web, required node affinity by no-heat");
      CHECK(said.what == note::fate::yours);
      CHECK(said.sentence.starts_with("make it preferred"));
      CHECK(said.sentence.find("kubelet that restarts") != std::string::npos);
      // There is no other note: neither about the other expression, nor about an unknown object.
      CHECK(m.notes.size() == 1);
    }
    const auto speaks_of_it = [](const migration& m) {
      return std::ranges::any_of(
          m.notes, [](const note& n) { return n.subject.find("affinity") != std::string::npos; });
    };
    CHECK_FALSE(speaks_of_it(of(with("Deployment", required, "In", "violating"))));
    CHECK_FALSE(speaks_of_it(of(with("Deployment", required, "NotIn", "other"))));
    CHECK_FALSE(speaks_of_it(
        of(with("Deployment", "preferredDuringSchedulingIgnoredDuringExecution", "NotIn", "violating"))));
    CHECK_FALSE(
        speaks_of_it(of("kind: Pod\nmetadata: {name: odd}\nspec: {affinity: {nodeAffinity: {" + required +
                        ": {nodeSelectorTerms: [7, {matchExpressions: x}, {matchExpressions: [3]}]}}}}\n")));
    // A label of the strategy labeling is named, whatever the operator.
    std::string labeled = with("Deployment", required, "In", "card0");
    labeled.replace(labeled.find("no-heat"), 7, "telemetry.aware.scheduling.cards/gpu");
    CHECK(speaks_of_it(of(labeled)));
  }

  TEST_CASE("an affinity is said once, of the object that made the others") {
    const std::string spec =
        "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
        "[{matchExpressions: [{key: no-heat, operator: NotIn, values: [violating]}]}, {matchExpressions: "
        "[{key: no-heat, operator: NotIn, values: [violating]}]}]}}}}";
    const std::string set =
        "kind: ReplicaSet\nmetadata: {name: web-1, namespace: shop, ownerReferences: [{kind: Deployment, "
        "name: web}]}\nspec: {template: {spec: " +
        spec + "}}\n";
    const std::string pod =
        "kind: Pod\nmetadata: {name: web-1-x, namespace: shop, ownerReferences: [{kind: ReplicaSet, name: "
        "web-1}]}\nspec: " +
        spec + "\n";
    const std::string owner =
        "kind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {template: {spec: " + spec + "}}\n";
    const auto all = of(owner + "---\n" + set + "---\n" + pod);
    REQUIRE(all.notes.size() == 1);
    CHECK(all.notes[0].subject == "Deployment web, required node affinity by no-heat");
    CHECK(of(pod).notes[0].subject == "Pod web-1-x, required node affinity by no-heat");
  }

  TEST_CASE("values are YAML that says what it is, the report names the fates in order") {
    const auto m = of(deployment);
    const auto values = values_text(m);
    CHECK(values.starts_with("# Values for the chart"));
    CHECK(YAML::Load(values)["aggregator"]["nodeSelector"]["rack"].Scalar() == "7");
    CHECK(values_text({}).ends_with("{}\n"));
    const auto report = report_text(m, {}, 80);
    const auto carried = report.find("Carried over"), yours = report.find("For you to do");
    REQUIRE(carried != report.npos);
    REQUIRE(yours != report.npos);
    CHECK(carried < yours);
    std::istringstream lines(report);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
    CHECK(as_json(m).find(R"("fate":"carried")") != std::string::npos);
  }

  TEST_CASE("a text that is not YAML, or holds nothing, is said with its place") {
    const auto bad = read_manifests("old.yaml", "kind: Deployment\nmetadata: [\n");
    REQUIRE(bad.has_error());
    CHECK(bad.error().message.starts_with("old.yaml:"));
    CHECK(read_manifests("old.yaml", "just words")->empty());
    std::ostringstream out, err;
    CHECK(migrate_command({"/nowhere/x.yaml"}, {out, err, {}, false, false}) == exit_problem);
    CHECK(err.str().find("/nowhere/x.yaml cannot be read") != std::string::npos);
  }

  TEST_CASE("lists in lists in lists end, and odd shapes are no trouble") {
    std::string deep = "kind: Deployment\n";
    for (int i = 0; i < 20; ++i) {
      std::string indented;
      std::istringstream lines(deep);
      for (std::string line; std::getline(lines, line);) indented += "  " + line + '\n';
      deep = "kind: List\nitems:\n-\n" + indented;
    }
    CHECK(read_manifests("deep.yaml", deep)->empty());
    const auto odd =
        of("kind: Deployment\nmetadata: text\nspec: [1, 2]\n---\nkind: TASPolicy\nspec: {strategies: "
           "{dontschedule: 3}}\n---\nkind: KubeSchedulerConfiguration\nextenders: {a: 1}\n---\nkind: "
           "Secret\ndata: {tls.crt: 7}\n---\nkind: ConfigMap\ndata: [x]\n");
    CHECK(odd.values.size() == 0);
  }
}

}  // namespace migration_test
