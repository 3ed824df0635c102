#include "agent/sources/pmu/pod_cgroups.hpp"

#include <algorithm>
#include <filesystem>

namespace binnacle::agent {
namespace {

namespace fs = std::filesystem;

constexpr unsigned deepest_slice = 4;  // kubelet.slice, kubelet-kubepods.slice, …-burstable.slice, the pod

bool is_hexadecimal(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_uid(std::string_view text) {
  if (text.size() == 32) return std::ranges::all_of(text, is_hexadecimal);
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_hexadecimal(text[i])) return false;
  }
  return true;
}

// Whether the folder may contain pods. Only such folders are searched, since a node has thousands of other
// cgroups.
bool leads_to_pods(std::string_view name) {
  return name.find("kubepods") != name.npos || name == "kubelet" || name == "kubelet.slice" ||
         name == "burstable" || name == "besteffort";
}

void collect(const std::string& folder, unsigned depth, std::size_t most, std::vector<pod_cgroup>& out) {
  std::error_code bad;
  for (fs::directory_iterator it(folder, bad), end; !bad && it != end; it.increment(bad)) {
    const auto name = it->path().filename().string();
    std::error_code none;
    if (!it->is_directory(none)) continue;
    if (auto uid = pod_uid_of(name)) {
      if (out.size() < most) out.push_back({*std::move(uid), it->path().string()});
    } else if (depth < deepest_slice && leads_to_pods(name)) {
      collect(it->path().string(), depth + 1, most, out);
    }
  }
}

}  // namespace

std::optional<std::string> pod_uid_of(std::string_view folder_name) {
  constexpr std::string_view slice = ".slice";
  std::string uid;
  if (folder_name.ends_with(slice)) {
    folder_name.remove_suffix(slice.size());
    const auto last = folder_name.rfind("-pod");
    if (last == folder_name.npos || folder_name.substr(0, last).find("kubepods") == folder_name.npos) {
      return std::nullopt;
    }
    uid = folder_name.substr(last + 4);
    std::ranges::replace(uid, '_', '-');
  } else if (folder_name.starts_with("pod")) {
    uid = folder_name.substr(3);
  }
  return is_uid(uid) ? std::optional(std::move(uid)) : std::nullopt;
}

std::string perf_cgroups(const std::string& sys_root) {
  const auto root = sys_root + "/fs/cgroup";
  std::error_code bad;
  if (fs::exists(root + "/cgroup.controllers", bad)) return root;
  if (fs::is_directory(root + "/perf_event", bad)) return root + "/perf_event";
  // Both versions of cgroups are mounted, and perf_event belongs to version 2.
  if (fs::exists(root + "/unified/cgroup.controllers", bad)) return root + "/unified";
  return {};
}

std::vector<pod_cgroup> find_pod_cgroups(const std::string& root, std::size_t most) {
  std::vector<pod_cgroup> found;
  collect(root, 1, most, found);
  std::ranges::sort(found, {}, &pod_cgroup::uid);
  const auto same = [](const pod_cgroup& a, const pod_cgroup& b) { return a.uid == b.uid; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

}  // namespace binnacle::agent
