#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// The uid of the pod to which a cgroup's folder belongs, from the folder's name. Nothing for any other name.
/// Pure.
///
///   kubepods-burstable-pod0f1a…_….slice   systemd driver: '-' of the uid became '_'
///   kubelet-kubepods-pod….slice           the same below a kubelet's own slice (kind)
///   pod0f1a…-…                            cgroupfs driver
///
/// A uid is a UUID, or 32 hexadecimal digits of a static pod. Source: kubelet, pkg/kubelet/cm
/// (pod_container_manager_linux.go, cgroup_manager_linux.go: escapeSystemdCgroupName).
std::optional<std::string> pod_uid_of(std::string_view folder_name);

struct pod_cgroup {
  std::string uid;
  std::string folder;  ///< its whole path

  friend bool operator==(const pod_cgroup&, const pod_cgroup&) = default;
};

/// The folder below `sys_root` with the cgroups by which perf counts: the unified hierarchy, or v1's
/// perf_event. Empty if there is neither. Blocks: a few stat(2).
std::string perf_cgroups(const std::string& sys_root);

/// At most `most` pods with a cgroup below `root`, by uid. Searches only kubepods and its classes (burstable,
/// besteffort), also below a kubelet's own folder. Blocks: a few folders.
std::vector<pod_cgroup> find_pod_cgroups(const std::string& root, std::size_t most);

}  // namespace binnacle::agent
