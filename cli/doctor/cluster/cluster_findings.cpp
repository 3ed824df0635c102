#include "cli/doctor/cluster/cluster_findings.hpp"

#include "aggregator/kube/reviews/service_account.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

namespace binnacle::cli::doctor {
namespace {

constexpr int least_minor = 30;  // since this version a label change wakes refused pods (Kubernetes #118438)

/// The fields of the chart's CRD that TAS's CRD does not have; that of an older version may lack some, too.
/// "*" is any entry of a map, "[]" any item of a list. tests/docs compares this list with the chart's CRD.
constexpr std::string_view fields_of_crd[] = {
    "status.conditions",
    "status.observedGeneration",
    "status.oldestData",
    "status.strategies",
    "status.violating",
    "status.violatingNodes",
    "spec.herdDamping",
    "spec.mode",
    "spec.strategies.*.coolDown",
    "spec.strategies.*.cpuFormat",
    "spec.strategies.*.maxLoad",
    "spec.strategies.*.maxNodes",
    "spec.strategies.*.model",
    "spec.strategies.*.objective",
    "spec.strategies.*.onMissing",
    "spec.strategies.*.podUsageAssumption",
    "spec.strategies.*.rules.[].clearAbove",
    "spec.strategies.*.rules.[].clearBelow",
    "spec.strategies.*.rules.[].for",
    "spec.strategies.*.rules.[].staleAfter",
    "spec.strategies.*.rules.[].statistic",
    "spec.strategies.*.rules.[].targetQuantity",
    "spec.strategies.*.rules.[].window",
};

/// Whether a schema has that field.
bool has_field(const json::value& schema, std::string_view field) {
  const json::value* at = &schema;
  while (at != nullptr && !field.empty()) {
    const std::string_view step = field.substr(0, field.find('.'));
    field.remove_prefix(std::min(step.size() + 1, field.size()));
    if (step == "*") {
      at = member(*at, "additionalProperties");
    } else if (step == "[]") {
      at = member(*at, "items");
    } else {
      const json::value* properties = member(*at, "properties");
      at = properties == nullptr ? nullptr : member(*properties, step);
    }
  }
  return at != nullptr;
}

/// The first field that the CRD lacks; empty if it has all of them.
std::string_view missing_in_crd(const json::value& crd) {
  const json::value spec = object(crd, "spec");
  for (const json::value& version : list(spec, "versions")) {
    if (text(version, "name") != "v1alpha1") continue;
    const json::value holder = object(version, "schema");
    const json::value schema = object(holder, "openAPIV3Schema");
    for (const std::string_view field : fields_of_crd) {
      if (!has_field(schema, field)) return field;
    }
    return {};
  }
  return "version v1alpha1";
}

}  // namespace

json::value condition(const json::value& of, std::string_view type) {
  const json::value status = object(of, "status");
  for (const auto& c : list(status, "conditions")) {
    if (text(c, "type") == type) return c;
  }
  return nullptr;
}

finding finding_of_version(const json::value& version, unsigned status, const std::string& url) {
  const std::string called = text(version, "gitVersion");
  if (status == 401 || status == 403) {
    return failure(
        fmt::format("the API server {} does not accept our credentials (HTTP status {})", url, status),
        "log in again: the credentials in the kubeconfig are no longer good");
  }
  if (called.empty()) {
    return failure(fmt::format("{} answers HTTP status {} and no version", url, status),
                   "is that an API server? See cluster.server in the kubeconfig");
  }
  const int minor = std::atoi(text(version, "minor").c_str());
  if (text(version, "major") == "1" && minor < least_minor) {
    return warning(
        fmt::format("the API server {} is Kubernetes {}, older than 1.{}", url, called, least_minor),
        "a change of a node's label wakes refused pods only from 1.30 on");
  }
  return ok(fmt::format("the API server {} answers, Kubernetes {}", url, called));
}

finding finding_of_crd(const json::value& crd) {
  if (crd.is_null()) {
    return failure("the cluster has no TASPolicy objects: the CRD is not installed",
                   "kubectl apply -f charts/binnacle/crds/taspolicy.yaml");
  }
  if (text(condition(crd, "Established"), "status") != "True")
    return failure("the CRD of TASPolicy is not established",
                   "kubectl describe crd taspolicies.telemetry.intel.com");
  if (const std::string_view field = missing_in_crd(crd); !field.empty()) {
    return warning(
        fmt::format("the CRD of TASPolicy is older than this command: it lacks {}, and the API server drops "
                    "fields that the CRD lacks from policies and from their statuses",
                    field),
        "kubectl apply --server-side --force-conflicts -f charts/binnacle/crds/taspolicy.yaml (helm never "
        "updates a CRD), then apply your policies again");
  }
  return ok("the CRD of TASPolicy is established");
}

finding finding_of_api_service(const json::value& service, const std::string& name) {
  if (service.is_null()) {
    return warning(fmt::format("{} is not registered: HPA and kubectl get --raw see no custom metrics", name),
                   "install the chart with customMetrics.enabled: true");
  }
  const json::value spec = object(service, "spec");
  const json::value target = object(spec, "service");
  const std::string of = fmt::format("{}/{}", text(target, "namespace"), text(target, "name"));
  const json::value available = condition(service, "Available");
  if (text(available, "status") != "True") {
    return failure(
        fmt::format("{} is not available: {}: {}", name, text(available, "reason"),
                    text(available, "message")),
        text(available, "reason") == "ServiceNotFound"
            ? fmt::format(
                  "is Service {} still to come? If Binnacle was removed: kubectl delete apiservice {}", of,
                  name)
            : fmt::format("can the API server reach Service {}, and does its certificate fit spec.caBundle? "
                          "kubectl describe apiservice {}",
                          of, name));
  }
  if (flag(spec, "insecureSkipTLSVerify")) {
    return warning(fmt::format("{} trusts whoever answers for Service {} (insecureSkipTLSVerify)", name, of),
                   "set spec.caBundle instead, as the chart does");
  }
  if (of.find("binnacle") == of.npos) {
    return warning(
        fmt::format("{} is served by Service {}: another adapter's, or ours by another name", name, of),
        "one server per cluster can have it: take the other adapter out, or customMetrics.enabled: false");
  }
  return ok(fmt::format("{} is available, served by Service {}", name, of));
}

std::string right::words() const {
  const auto& q = question;
  return fmt::format("{} {}{}{}", q.verb, q.resource, q.subresource.empty() ? "" : "/" + q.subresource,
                     q.name_space.empty() ? "" : " in namespace " + q.name_space);
}

std::vector<right> rights_of_aggregator(std::string_view name_space, std::string_view name) {
  const kube::user who{kube::user_of_service_account(name_space, name),
                       {},
                       {"system:serviceaccounts", fmt::format("system:serviceaccounts:{}", name_space),
                        "system:authenticated"}};
  std::vector<right> out;
  const auto needs = [&](std::string_view verb, std::string_view group, std::string_view resource,
                         std::string_view without) -> kube::access_question& {
    const auto slash = std::min(resource.find('/'), resource.size());
    kube::access_question q{who, std::string(verb)};
    q.group = group;
    q.resource = resource.substr(0, slash);
    if (slash < resource.size()) q.subresource = resource.substr(slash + 1);
    out.push_back({std::move(q), without});
    return out.back().question;
  };
  const std::string_view policies = "it follows no policy", pods = "it does not know where pods are";
  for (const char* verb : {"list", "watch"}) {
    needs(verb, "telemetry.intel.com", "taspolicies", policies);
    needs(verb, "", "nodes", "it knows no node's labels");
    needs(verb, "", "pods", pods);
    needs(verb, "apps", "replicasets", "no pods are spread by the annotation podspread-rate");
  }
  needs("patch", "telemetry.intel.com", "taspolicies/status", "policies have no status");
  needs("patch", "", "nodes", "deschedule and labeling label no node, and refused pods are not woken");
  needs("create", "events.k8s.io", "events", "nobody is told by events");
  const std::string_view leases = "no replica leads, so that nothing is written at all";
  const std::string lease_group = "coordination.k8s.io";
  needs("create", lease_group, "leases", leases).name_space = name_space;
  for (const char* verb : {"get", "update"}) {
    auto& q = needs(verb, lease_group, "leases", leases);
    q.name_space = name_space;
    q.name = "binnacle-aggregator";
  }
  const std::string_view strangers = "tokens of agents and callers are refused";
  needs("create", "authentication.k8s.io", "tokenreviews", strangers);
  needs("create", "authorization.k8s.io", "subjectaccessreviews", "nobody may read metrics by RBAC");
  return out;
}

findings findings_of_rights(std::span<const right> asked, std::span<const right> missing) {
  if (asked.empty()) return {};
  const std::string& who = asked.front().question.who.name;
  if (missing.empty()) return {ok(fmt::format("{} may do all that it must", who))};
  if (missing.size() == asked.size()) {
    return {failure(
        fmt::format("{} may do nothing of what an aggregator must", who),
        "name the aggregator's service account: --aggregator-account NAMESPACE/NAME; the chart makes it "
        "with its roles")};
  }
  findings out;
  for (const right& r : missing) {
    const auto& q = r.question;
    out.push_back(failure(
        fmt::format("{} may not {}: {}", who, r.words(), r.without),
        fmt::format(
            "helm upgrade brings the chart's roles back; kubectl auth can-i {} {}{} --as={}{} must say yes",
            q.verb, q.resource,
            fmt::format("{}{}", q.group.empty() ? "" : "." + q.group,
                        q.subresource.empty() ? "" : " --subresource=" + q.subresource),
            who, q.name_space.empty() ? "" : " -n " + q.name_space)));
  }
  return out;
}

void add_named_secrets(std::string_view kind, const json::value& list_of_them,
                       std::vector<named_secret>& to) {
  for (const json::value& one : list(list_of_them, "items")) {
    const json::object& meta = object(one, "metadata");
    const json::value spec =
        kind == "NodeConfigTemplate" ? object(object(one, "spec"), "template") : object(one, "spec");
    for (const std::string_view term : {"powerConsumption", "powerConsumptionEndpointProvider"}) {
      const json::value given = object(object(spec, "predictor"), term);
      named_secret its{text(meta, "namespace"), text(object(given, "basicAuthSecret"), "name"),
                       fmt::format("{} {}/{}", kind, text(meta, "namespace"), text(meta, "name"))};
      const bool filled_in = its.name.find("{{") != its.name.npos;
      const bool known = std::ranges::any_of(
          to, [&its](const named_secret& s) { return s.name_space == its.name_space && s.name == its.name; });
      if (its.name.empty() || filled_in || known) continue;
      if (to.size() == most_secrets) return;
      to.push_back(std::move(its));
    }
  }
}

kube::access_question may_read(const kube::user& who, const named_secret& secret) {
  kube::access_question q{who, "get"};
  q.resource = "secrets";
  q.name_space = secret.name_space;
  q.name = secret.name;
  return q;
}

findings findings_of_secrets(const kube::user& who, std::span<const named_secret> named,
                             std::span<const named_secret> closed) {
  if (named.empty()) return {};
  if (closed.empty()) return {ok(fmt::format("{} may read the Secrets of model servers", who.name))};
  findings out;
  for (const named_secret& s : closed) {
    out.push_back(warning(
        fmt::format("{} may not read the Secret {}/{}, which {} names: its model is not asked", who.name,
                    s.name_space, s.name, s.object),
        fmt::format(
            "in the chart aggregator.modelServersSecrets: {{namespace: {0}, names: [{1}]}} (with names "
            "that are there already), else a Role of yours; kubectl auth can-i get secrets/{1} "
            "--as={2} -n {0} must say yes",
            s.name_space, s.name, who.name)));
  }
  return out;
}

finding finding_of_writers(const std::vector<std::string>& who) {
  if (who.empty())
    return ok("neither every user nor the ClusterRoles edit and admin may write TASPolicy objects");
  return warning(
      fmt::format("{} may write TASPolicy objects, which steer pods and label nodes of the whole cluster",
                  fmt::join(who, " and ")),
      "take the right away, or name the namespaces whose policies may label nodes in the aggregator's "
      "label-namespaces");
}

}  // namespace binnacle::cli::doctor
