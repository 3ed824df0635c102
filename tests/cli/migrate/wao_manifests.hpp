#pragma once

#include "cli/migrate/migrate.hpp"
#include "cli/migrate/migration.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

/// Manifests of WAO's, and short ways to read what became of them.
namespace binnacle::cli::migrate::test {

inline migration of(const std::string& text) {
  const auto found = read_manifests("wao.yaml", text);
  REQUIRE(found.has_value());
  return migrate::migrate(*found);
}

/// The fate and subject of every note, one note a line.
inline std::string fates(const migration& m) {
  std::string out;
  for (const note& n : m.notes) {
    constexpr std::array names{"carried", "works", "dropped", "yours"};
    out += fmt::format("{}: {}\n", names[static_cast<std::size_t>(n.what)], n.subject);
  }
  return out;
}

inline std::string sentence(const migration& m, const std::string& subject, note::fate what) {
  const auto at =
      std::ranges::find_if(m.notes, [&](const note& n) { return n.subject == subject && n.what == what; });
  CAPTURE(subject);
  REQUIRE(at != m.notes.end());
  return at->sentence;
}

inline std::string values(const migration& m) {
  const std::string text = values_text(m);
  return text.substr(text.find("defaults.\n") + 10);
}

inline const std::string scheduler = R"(
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

inline std::string node_config(const std::string& name, const std::string& predictor) {
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

inline std::string node_config_template(const std::string& predictor,
                                        const std::string& name_space = "wao-system") {
  return fmt::format(R"(
apiVersion: node.waok8s.github.io/v1beta1
kind: NodeConfigTemplate
metadata: {{name: r650, namespace: {}}}
spec:
  nodeSelector: {{matchLabels: {{kind: r650}}}}
  template:
    metricsCollector: {{inletTemp: {{type: Fake, endpoint: ""}}, deltaP: {{type: Fake, endpoint: ""}}}}
    predictor: {}
---
)",
                     name_space, predictor);
}

/// The predictor of an object whose model's server wants a password.
inline std::string guarded_by(const std::string& secret) {
  return fmt::format(
      R"({{powerConsumption: {{type: V2InferenceProtocol, endpoint: "https://h/v2/models/m", basicAuthSecret: {{name: "{}"}}}}}})",
      secret);
}

inline const std::string served =
    R"({powerConsumption: {type: V2InferenceProtocol, endpoint: "http://10.0.0.20:8080/v2/models/PC-R650/versions/v0.1.0/infer"}})";

}  // namespace binnacle::cli::migrate::test
