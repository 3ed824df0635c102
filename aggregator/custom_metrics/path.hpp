#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

/// The paths of an aggregated API server for custom.metrics.k8s.io, taken apart.
namespace binnacle::custom_metrics {

inline constexpr std::string_view group = "custom.metrics.k8s.io";

enum class version : unsigned char { v1beta1, v1beta2 };
constexpr std::string_view to_string(version v) noexcept {
  return v == version::v1beta1 ? "v1beta1" : "v1beta2";
}
/// The preferred one first.
constexpr std::array<version, 2> versions{version::v1beta2, version::v1beta1};

struct path {
  enum class what : unsigned char {
    unknown,    ///< a path that we do not serve
    groups,     ///< /apis
    group,      ///< /apis/custom.metrics.k8s.io
    resources,  ///< /apis/custom.metrics.k8s.io/{version}
    value,      ///< …/{resource}/{object}/{metric}, with or without a namespace
  };
  what kind = what::unknown;
  custom_metrics::version api = version::v1beta2;
  std::string name_space;  ///< empty for cluster-wide objects
  std::string resource;    ///< as spelled ("nodes", "no", "deployments.apps")
  std::string object;      ///< "*" for all
  std::string metric;

  bool all() const noexcept { return object == "*"; }
  /// Whether the resource is pods of a namespace, in any spelling that kubectl takes.
  bool pods() const noexcept {
    return !name_space.empty() && (resource == "pods" || resource == "pod" || resource == "po");
  }
  /// Whether the resource is the cluster's nodes, in any spelling that kubectl takes.
  bool nodes() const noexcept {
    return name_space.empty() && (resource == "nodes" || resource == "node" || resource == "no");
  }
};

/// `segments` are percent-decoded, as in http::request. Empty segments at the end (a final slash) are
/// ignored. {base}/namespaces/{ns}/metrics/{metric} is a metric of the namespace itself, so it gives the
/// resource "namespaces", the object {ns} and no namespace.
path parse_path(const std::vector<std::string>& segments);

}  // namespace binnacle::custom_metrics
