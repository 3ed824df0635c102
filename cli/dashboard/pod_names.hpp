#pragma once

#include "cli/dashboard/second_thread.hpp"
#include "cli/doctor/place.hpp"
#include "cli/json.hpp"
#include "common/async/task.hpp"

#include <functional>
#include <map>
#include <string>

namespace binnacle::cli::dashboard {

/// The names of pods by the UIDs that their cgroups have, from a list of Pod objects: "namespace/name". The
/// cgroup of a static pod has another UID than its object, which tells it in an annotation. Pure.
std::map<std::string, std::string> names_by_uid(const json::value& pods);

/// Asks the API server for the names of a node's pods, because series know only their UIDs. Asking blocks, so
/// it is done on a thread beside the loop. Include from .cpp files only. Threads: one loop.
class pod_names {
 public:
  /// `where` says by which kubeconfig; it runs on the other thread. `on` must outlive this object. Its end
  /// waits for the question that is under way.
  pod_names(async::loop& on, std::function<doctor::place()> where);

  /// Gives an event's data: {"about":NODE,"nowMs":…,"names":{UID:NAME,…}}, or with "error" and why there are
  /// no names. Empty if the coroutine was cancelled.
  async::task<std::string> ask(std::string node);

 private:
  const std::function<doctor::place()> where_;
  second_thread thread_;
};

}  // namespace binnacle::cli::dashboard
