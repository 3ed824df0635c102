#include "cli/doctor/cluster/pod_findings.hpp"

#include "cli/doctor/cluster/cluster_findings.hpp"
#include "cli/views/units.hpp"
#include "common/text/first_few.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <tuple>

namespace binnacle::cli::doctor {
namespace {

constexpr std::size_t names_shown = 3;

bool is_any_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// Finds what is wrong with one container of the pod. False if the container is well.
bool explain_by_container(stuck_pod& pod, const json::value& container) {
  const json::value state = object(container, "state"), last = object(container, "lastState");
  const json::value waiting = object(state, "waiting"), ended = object(last, "terminated");
  const bool for_memory = text(ended, "reason") == "OOMKilled";
  const std::string waits = text(waiting, "reason");
  // Every container begins with "ContainerCreating". If something keeps it there, only an event of the pod
  // says what.
  if (!for_memory && is_any_of(waits, {"", "ContainerCreating", "PodInitializing"})) return false;
  pod.container = text(container, "name");
  if (for_memory) {
    pod.reason = "OOMKilled";
    pod.message = "it used more memory than its limit allows";
    return true;
  }
  pod.reason = waits;
  pod.message =
      waits == "CrashLoopBackOff"
          ? fmt::format("it ended with exit code {} the last time, after {}", integer(ended, "exitCode"),
                        counted(integer(container, "restartCount"), "restart"))
          : text(waiting, "message");
  return true;
}

std::string remedy_of(const stuck_pod& p) {
  const std::string where = fmt::format("-n {} {}", p.name_space, p.name);
  if (is_any_of(p.reason, {"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"})) {
    return "image.registry, image.tag, image.digests and image.pullSecrets name the image; on a node without "
           "a registry import the archive (images/README.md)";
  }
  if (p.reason == "OOMKilled")
    return fmt::format("raise {}resources.limits.memory",
                       p.container == "ipmi" ? "agent.ipmi." : p.component + ".");
  if (p.reason == "CrashLoopBackOff")
    return fmt::format("its log says why: kubectl logs --previous {} -c {}", where, p.container);
  if (contains(p.message, "seccomp") || contains(p.message, "profile")) {
    return "the node lacks that seccomp profile: copy it below the kubelet's seccomp folder "
           "(charts/binnacle/seccomp/README.md), or set agent.seccomp.type: RuntimeDefault";
  }
  if (contains(p.message, "secret \"")) {
    return fmt::format("create that secret in namespace {}; the pod then starts by itself within two minutes",
                       p.name_space);
  }
  if (contains(p.message, "hostPath type check failed"))
    return "the node has no such folder: see agent.textfileDirectory and agent.hostProc";
  if (p.reason == "Unschedulable" && contains(p.message, "Insufficient") && p.component == "agent") {
    return "no node has what it asks for: with agent.ipmi.access: devicePlugin a device plug-in must give "
           "agent.ipmi.deviceResource; else see agent.resources";
  }
  if (p.reason == "Unschedulable")
    return fmt::format("see {0}.nodeSelector, {0}.tolerations and {0}.resources", p.component);
  if (p.is_ready || p.message.empty()) return fmt::format("if it stays so: kubectl describe pod {}", where);
  return fmt::format("kubectl describe pod {} and its log say more", where);
}

}  // namespace

std::vector<stuck_pod> stuck_pods(const json::value& pods) {
  std::vector<stuck_pod> out;
  for (const auto& pod : list(pods, "items")) {
    const json::value meta = object(pod, "metadata"), status = object(pod, "status");
    stuck_pod one{.name_space = text(meta, "namespace"),
                  .name = text(meta, "name"),
                  .uid = text(meta, "uid"),
                  .node = text(object(pod, "spec"), "nodeName"),
                  .component = text(object(meta, "labels"), "app.kubernetes.io/component")};
    if (member(meta, "deletionTimestamp") != nullptr || one.component == "test" ||
        text(status, "phase") == "Succeeded")
      continue;
    one.is_ready = text(condition(pod, "Ready"), "status") == "True";
    if (text(status, "phase") == "Failed") {
      one.has_ended = true;
      one.reason = text(status, "reason");
      one.message = text(status, "message");
      out.push_back(std::move(one));
      continue;
    }
    const auto& containers = list(status, "containerStatuses");
    const bool told = std::ranges::any_of(
        containers, [&](const json::value& container) { return explain_by_container(one, container); });
    if (told || !one.is_ready) {
      const json::value placed = condition(pod, "PodScheduled");
      if (!told && text(placed, "status") == "False") {
        one.reason = text(placed, "reason");
        one.message = text(placed, "message");
      }
      out.push_back(std::move(one));
    }
  }
  return out;
}

void explain_by_events(std::string& reason, std::string& message, const json::value& events) {
  if (!message.empty()) return;
  const json::value* newest = nullptr;
  std::string at;
  for (const auto& e : list(events, "items")) {
    if (text(e, "type") != "Warning") continue;
    std::string when = text(e, "lastTimestamp");
    if (when.empty()) when = text(e, "eventTime");
    if (newest != nullptr && when < at) continue;
    newest = &e;
    at = std::move(when);
  }
  if (newest == nullptr) return;
  reason = text(*newest, "reason");
  message = text(*newest, "message");
}

std::vector<std::vector<stuck_pod>> by_reason(std::vector<stuck_pod> all) {
  const auto key = [](const stuck_pod& p) {
    return std::tie(p.name_space, p.component, p.container, p.reason, p.is_ready, p.has_ended);
  };
  std::vector<std::vector<stuck_pod>> out;
  for (stuck_pod& p : all) {
    const auto same =
        std::ranges::find_if(out, [&](const auto& alike) { return key(alike.front()) == key(p); });
    if (same == out.end()) {
      out.emplace_back().push_back(std::move(p));
    } else {
      same->push_back(std::move(p));
    }
  }
  return out;
}

finding finding_of_stuck_pods(std::span<const stuck_pod> alike) {
  const stuck_pod& first = alike.front();
  std::vector<std::string> names;
  for (const stuck_pod& p : alike) {
    if (names.size() == names_shown) break;
    names.push_back(p.node.empty() ? p.name : fmt::format("{} on {}", p.name, p.node));
  }
  std::string who = fmt::format("{}/{}", first.name_space, first_few(names, names_shown, alike.size()));
  if (!first.container.empty()) who += fmt::format(", container {}", first.container);
  const std::string why = first.message.empty() ? first.reason : first.reason + ": " + first.message;
  if (first.has_ended)
    return warning(
        fmt::format("{}: ended: {}", who, why),
        fmt::format("its controller makes another; kubectl delete pod -n {} {} removes what is left",
                    first.name_space, first.name));
  if (first.is_ready) return warning(fmt::format("{}: is ready again after {}", who, why), remedy_of(first));
  if (first.message.empty())
    return warning(fmt::format("{}: is not ready{}", who, why.empty() ? "" : ", " + why), remedy_of(first));
  return failure(fmt::format("{}: {}", who, why), remedy_of(first));
}

}  // namespace binnacle::cli::doctor
