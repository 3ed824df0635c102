#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

/// ExtenderArgs and ExtenderPreemptionArgs as kube-scheduler (Go, no JSON tags) writes them:
/// k8s.io/kube-scheduler/extender/v1.
namespace binnacle::test {

/// A pod of about 2 kB with its spec. If `policy` is empty, it has no policy label.
inline std::string pod_json(const std::string& name, const std::string& policy,
                            const std::string& name_space = "default") {
  const std::string label = policy.empty() ? "" : fmt::format(R"(,"telemetry-policy":"{}")", policy);
  return fmt::format(
      R"({{"metadata":{{"name":"{0}","generateName":"web-7d4b9c-","namespace":"{1}","uid":"8f1e-{0}","resourceVersion":"4711",)"
      R"("creationTimestamp":"2026-01-01T00:00:00Z","labels":{{"app":"web","pod-template-hash":"7d4b9c"{2}}},)"
      R"("annotations":{{"name":"not the name","telemetry-policy":"not a label"}},)"
      R"("ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7d4b9c","uid":"77","controller":true}}]}},)"
      R"("spec":{{"volumes":[{{"name":"token","projected":{{"sources":[{{"serviceAccountToken":{{"expirationSeconds":3607,"path":"token"}}}}]}}}}],)"
      R"("containers":[{{"name":"web","image":"registry.example/web:1.2.3","resources":{{"limits":{{"telemetry/scheduling":"1"}}}},)"
      R"("env":[{{"name":"QUOTED","value":"say \"hi\" \\ ünïcödé \u00e9"}}]}}],"restartPolicy":"Always","priority":0,)"
      R"("tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}}]}},)"
      R"("status":{{"phase":"Pending","qosClass":"BestEffort"}}}})",
      name, name_space, label);
}

/// A node object with `images` images of some 240 bytes each. With 48 images it has the 12.6 kB of a real
/// one.
inline std::string node_json(const std::string& name, int images = 2) {
  std::string out = fmt::format(
      R"({{"metadata":{{"name":"{0}","uid":"n-{0}","resourceVersion":"9","creationTimestamp":"2026-01-01T00:00:00Z",)"
      R"("labels":{{"kubernetes.io/hostname":"{0}","kubernetes.io/os":"linux","name":"a label called name"}},)"
      R"("annotations":{{"note":"{{[\"brackets and \\\"quotes\\\" in a string\"]}}"}}}},)"
      R"("spec":{{"podCIDR":"10.244.1.0/24","taints":[{{"key":"name","effect":"NoSchedule"}}]}},)"
      R"("status":{{"capacity":{{"cpu":"64","memory":"263847620Ki","pods":"110"}},"daemonEndpoints":{{"kubeletEndpoint":{{"Port":10250}}}},)"
      R"("nodeInfo":{{"machineID":"m","kubeletVersion":"v1.33.3"}},"images":[)",
      name);
  for (int i = 0; i < images; ++i) {
    out += fmt::format(
        R"({}{{"names":["registry.example/team/service-{}@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",)"
        R"("registry.example/team/service-{}:v1.{}.0-with-a-long-suffix"],"sizeBytes":{}}})",
        i == 0 ? "" : ",", i, i, i, 12345678 + i);
  }
  return out + "]}}";
}

template <class List, class Text>
std::string joined(const List& list, Text text) {
  std::string out;
  for (const auto& each : list) {
    if (!out.empty()) out += ',';
    out += text(each);
  }
  return out;
}

/// nodeCacheCapable: true.
inline std::string names_args(const std::string& pod, const std::vector<std::string>& names) {
  return fmt::format(R"({{"Pod":{},"Nodes":null,"NodeNames":[{}]}})", pod,
                     joined(names, [](const std::string& n) { return '"' + n + '"'; }));
}

/// nodeCacheCapable: false; `nodes` are the objects.
inline std::string nodes_args(const std::string& pod, const std::vector<std::string>& nodes) {
  return fmt::format(R"({{"Pod":{},"Nodes":{{"metadata":{{}},"items":[{}]}},"NodeNames":null}})", pod,
                     joined(nodes, [](const std::string& n) { return n; }));
}

/// What kube-scheduler would evict at a node, by the pods' names. Their UIDs are those of pod_json().
struct eviction {
  std::string node;
  std::vector<std::string> pods;
  int violations = 0;
};

/// A map of MetaVictims.
inline std::string meta_victims(const std::vector<eviction>& of) {
  const auto uid = [](const std::string& pod) { return fmt::format(R"({{"UID":"8f1e-{}"}})", pod); };
  return '{' +
         joined(of,
                [&](const eviction& e) {
                  return fmt::format(R"("{}":{{"Pods":[{}],"NumPDBViolations":{}}})", e.node,
                                     joined(e.pods, uid), e.violations);
                }) +
         '}';
}

/// A preempt call with nodeCacheCapable: true.
inline std::string meta_victims_args(const std::string& pod, const std::vector<eviction>& of) {
  return fmt::format(R"({{"Pod":{},"NodeNameToVictims":null,"NodeNameToMetaVictims":{}}})", pod,
                     meta_victims(of));
}

/// A preempt call with nodeCacheCapable: false: the victims come as whole Pods.
inline std::string victims_args(const std::string& pod, const std::vector<eviction>& of) {
  const auto whole = [](const std::string& name) { return pod_json(name, "other"); };
  const std::string map = joined(of, [&](const eviction& e) {
    return fmt::format(R"("{}":{{"Pods":[{}],"NumPDBViolations":{}}})", e.node, joined(e.pods, whole),
                       e.violations);
  });
  return fmt::format(R"({{"Pod":{},"NodeNameToVictims":{{{}}},"NodeNameToMetaVictims":null}})", pod, map);
}

}  // namespace binnacle::test
