#pragma once

#include "aggregator/custom_metrics/path.hpp"
#include "common/fnv1a.hpp"
#include "common/text/json_writer.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// The documents from which clients and kube-apiserver learn what this server serves.
/// Source: k8s.io/api/apidiscovery (v2, v2beta1) and meta/v1 APIGroupList, APIGroup, APIResourceList.
namespace binnacle::custom_metrics {

/// One aggregated document with the tag that lets kube-apiserver ask "still the same?" once a minute.
struct tagged_document {
  std::string body;
  std::string etag;  ///< quoted; equal on every replica that serves the same names
};

/// Equal texts have equal tags on every replica and in every build.
tagged_document tagged(std::string body);

std::string group_list();  ///< GET /apis
std::string one_group();   ///< GET /apis/custom.metrics.k8s.io

/// A document that lists all metrics. It is written in steps: with 5,000 long names it has some megabytes.
class discovery_document {
 public:
  enum class which : unsigned char {
    resources_v1beta1,  ///< GET /apis/custom.metrics.k8s.io/v1beta1
    resources_v1beta2,
    aggregated_v2,  ///< GET /apis as APIGroupDiscoveryList
    aggregated_v2beta1,
  };
  static constexpr std::size_t forms = 4;
  /// A step ends after so many entries: a metric has one for each resource, and for each version.
  static constexpr std::size_t entries_per_step = 1'000;

  /// `pods`: the same metrics are there for pods, too.
  discovery_document(which what, std::shared_ptr<const std::vector<std::string>> node_metrics,
                     bool pods = false);
  discovery_document(const discovery_document&) = delete;
  discovery_document& operator=(const discovery_document&) = delete;

  /// Goes on writing; false when nothing is left to do. Several callers may take turns.
  bool step();
  /// Call it after step() has returned false.
  const tagged_document& made() const noexcept { return made_; }

 private:
  /// The metrics of one resource in one version.
  struct section {
    version api;
    std::string_view resource;
    bool namespaced;
    bool first, last;  ///< of its version
  };

  bool aggregated() const noexcept { return what_ >= which::aggregated_v2; }
  void begin();
  void begin(const section& s);
  void add(const section& s, const std::string& metric);
  void end(const section& s);
  void end();

  const which what_;
  const std::shared_ptr<const std::vector<std::string>> metrics_;
  std::vector<section> sections_;
  std::size_t section_ = 0, metric_ = 0;  // the next ones
  tagged_document made_;
  json_writer out_{made_.body};
  fnv1a hash_;
  std::size_t hashed_ = 0;  // bytes
};

inline constexpr std::string_view discovery_v2_type =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
inline constexpr std::string_view discovery_v2beta1_type =
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

}  // namespace binnacle::custom_metrics
