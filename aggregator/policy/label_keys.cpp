#include "aggregator/policy/label_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace binnacle::policy {
namespace {

constexpr std::string_view labeling_prefix = "telemetry.aware.scheduling.";

}  // namespace

std::string deschedule_key(const policy_key& key) { return key.name; }

std::string labeling_key(const policy_key& key, std::string_view label) {
  return std::string(labeling_prefix) + key.name + "/" + std::string(label);
}

std::string_view policy_of(std::string_view label_key) noexcept {
  if (!label_key.starts_with(labeling_prefix)) return label_key;
  label_key.remove_prefix(labeling_prefix.size());
  return label_key.substr(0, label_key.find('/'));
}

bool can_be_ours(std::string_view label_key, std::string_view value) noexcept {
  return value == violating_value || label_key.starts_with(labeling_prefix);
}

namespace {

// Keys without a prefix that administrators, providers and device plug-ins use. Pods choose nodes by them.
constexpr std::string_view well_known[] = {
    "accelerator", "arch",      "architecture", "capacity-type", "control-plane", "datacenter",
    "dedicated",   "disktype",  "env",          "environment",   "gpu",           "hostname",
    "infra",       "ingress",   "instance",     "instance-type", "lifecycle",     "master",
    "node-group",  "node-pool", "node-role",    "node-type",     "nodegroup",     "nodepool",
    "noderole",    "nodetype",  "os",           "platform",      "pool",          "preemptible",
    "rack",        "region",    "role",         "spot",          "storage",       "tenant",
    "topology",    "worker",    "zone"};
// A dotted name with one of these as a part belongs to somebody else: first cluster providers, then hardware
// vendors, then projects that label nodes.
constexpr std::string_view others[] = {
    "alibabacloud", "aliyun",   "amazonaws", "aws",          "azure",        "cattle",        "cloudprovider",
    "digitalocean", "eks",      "exoscale",  "gke",          "google",       "hetzner",       "huaweicloud",
    "ibm",          "linode",   "oci",       "openshift",    "oraclecloud",  "ovh",           "rancher",
    "redhat",       "scaleway", "tencent",   "tencentcloud", "upcloud",      "vmware",        "vultr",  //
    "amd",          "habana",   "intel",     "mellanox",     "nvidia",       "qualcomm",
    "xilinx",  //
    "antrea",       "cilium",   "coreos",    "csi",          "harvesterhci", "istio",         "k0sproject",
    "k3s",          "k8s",      "karpenter", "kubernetes",   "kubevirt",     "kueue",         "linkerd",
    "longhorn",     "microk8s", "nfd",       "openebs",      "portworx",     "projectcalico", "rke",
    "rke2",         "rook",     "spotinst",  "submariner",   "talos",        "volcano"};

}  // namespace

std::string others_key(std::string_view policy_name, label_form form) {
  if (form != label_form::policy_name) return {};
  if (std::ranges::find(well_known, policy_name) != std::end(well_known))
    return fmt::format("{} is a label that pods choose nodes by: rename the policy", policy_name);
  if (policy_name.find('.') == policy_name.npos) return {};
  for (std::string_view rest = policy_name; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('.'));
    if (std::ranges::find(others, part) != std::end(others))
      return fmt::format("labels with {} in their name are {}'s: rename the policy", part, part);
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return {};
}

std::vector<std::string> labels_at_odds(const strategy& s) {
  std::vector<std::pair<std::string, direction>> first;
  std::vector<std::string> out;
  for (const rule& r : s.rules) {
    for (const auto& [name, value] : r.labels) {
      const auto at = std::ranges::find(first, name, &std::pair<std::string, direction>::first);
      if (at == first.end()) {
        first.emplace_back(name, towards(r.op));
      } else if (at->second != towards(r.op) && std::ranges::find(out, name) == out.end()) {
        out.push_back(name);
      }
    }
  }
  return out;
}

}  // namespace binnacle::policy
