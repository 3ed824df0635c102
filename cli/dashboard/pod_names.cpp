#include "cli/dashboard/pod_names.hpp"

#include "cli/dashboard/event_parts.hpp"
#include "cli/doctor/cluster/kube_call.hpp"
#include "common/http/target.hpp"
#include "common/text/json_writer.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace binnacle::cli::dashboard {
namespace {

using async::task;

// A kubelet runs some hundreds of pods at most.
constexpr int most_pods = 1000;

/// Why there are no names, or the pods themselves.
result<json::value> pods_of(const doctor::place& p, const std::string& node) {
  const auto access = doctor::kube_access(p);
  if (!access) return error{errc::not_found, "no kubeconfig is given (--kube-config or KUBECONFIG)"};
  if (access->has_error()) return access->error();
  const std::string target = fmt::format("/api/v1/pods?fieldSelector={}&limit={}",
                                         http::query_escaped("spec.nodeName=" + node), most_pods);
  auto got = doctor::kube_read(**access, target, "the pods of this node", p);
  if (!got.instead) return std::move(got.object);
  const std::string remedy = got.instead->remedy.empty() ? "" : ": " + got.instead->remedy;
  return error{errc::permission, got.instead->sentence + remedy};
}

/// Must not throw, because it runs on the other thread.
result<json::value> asked(const std::function<doctor::place()>& where, const std::string& node) {
  try {
    return pods_of(where(), node);
  } catch (const std::exception& e) {
    return error{errc::internal, fmt::format("the question ended with an error: {}", e.what())};
  }
}

std::string event_of(const result<json::value>& pods, const std::string& node) {
  std::string text;
  json_writer out(text);
  out.begin_object().field("about", node).field("nowMs", unix_ms());
  if (pods.has_error()) {
    out.field("error", pods.error().message);
  } else {
    out.key("names").begin_object();
    for (const auto& [uid, name] : names_by_uid(*pods)) out.field(uid, name);
    out.end_object();
  }
  out.end_object();
  return text;
}

}  // namespace

std::map<std::string, std::string> names_by_uid(const json::value& pods) {
  std::map<std::string, std::string> out;
  for (const auto& pod : list(pods, "items")) {
    const json::value* meta = member(pod, "metadata");
    if (meta == nullptr) continue;
    const std::string name = text(*meta, "namespace") + "/" + text(*meta, "name");
    // Source: k8s.io/kubernetes/pkg/kubelet/types, ConfigHashAnnotationKey: the UID that the kubelet gave.
    const json::value* annotations = member(*meta, "annotations");
    const std::string given =
        annotations == nullptr ? std::string() : text(*annotations, "kubernetes.io/config.hash");
    for (const std::string& uid : {text(*meta, "uid"), given}) {
      if (!uid.empty()) out.emplace(uid, name);
    }
  }
  return out;
}

pod_names::pod_names(async::loop& on, std::function<doctor::place()> where)
    : where_(std::move(where)), thread_(on) {}

task<std::string> pod_names::ask(std::string node) {
  std::function<std::string()> question = [node, where = where_] {
    return event_of(asked(where, node), node);
  };
  auto told = co_await thread_.ask(std::move(question));
  co_return told ? std::move(*told) : std::string();
}

}  // namespace binnacle::cli::dashboard
