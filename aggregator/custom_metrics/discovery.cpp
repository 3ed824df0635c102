#include "aggregator/custom_metrics/discovery.hpp"

#include "common/fnv1a.hpp"
#include "common/text/json_writer.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace binnacle::custom_metrics {
namespace {

// Most preferred first.

std::string group_version(version v) { return fmt::format("{}/{}", group, to_string(v)); }

void write_group(json_writer& out) {
  out.field("name", group).key("versions").begin_array();
  for (const version v : versions) {
    out.begin_object().field("groupVersion", group_version(v)).field("version", to_string(v)).end_object();
  }
  out.end_array().key("preferredVersion").begin_object();
  out.field("groupVersion", group_version(versions.front()))
      .field("version", to_string(versions.front()))
      .end_object();
}

std::string group_list() {
  std::string body;
  json_writer out(body);
  out.begin_object()
      .field("kind", "APIGroupList")
      .field("apiVersion", "v1")
      .key("groups")
      .begin_array()
      .begin_object();
  write_group(out);
  out.end_object().end_array().end_object();
  return body += '\n';
}

std::string one_group() {
  std::string body;
  json_writer out(body);
  out.begin_object().field("kind", "APIGroup").field("apiVersion", "v1");
  write_group(out);
  out.end_object();
  return body += '\n';
}

/// A resource that has metrics, and whether it is in a namespace.
struct described {
  std::string_view resource;
  bool namespaced;
};

std::vector<described> all_described(bool pods) {
  std::vector<described> out{{"nodes", false}};
  if (pods) out.push_back({"pods", true});
  return out;
}

std::string resource_list(version v, const std::vector<std::string>& metrics, bool pods) {
  std::string body;
  body.reserve((pods ? 320 : 160) * metrics.size() + 160);
  json_writer out(body);
  out.begin_object()
      .field("kind", "APIResourceList")
      .field("apiVersion", "v1")
      .field("groupVersion", group_version(v));
  out.key("resources").begin_array();
  for (const described& of : all_described(pods)) {
    for (const std::string& metric : metrics) {
      out.begin_object().field("name", fmt::format("{}/{}", of.resource, metric)).field("singularName", "");
      out.field("namespaced", of.namespaced).field("kind", "MetricValueList");
      out.key("verbs").begin_array().value("get").end_array().end_object();
    }
  }
  out.end_array().end_object();
  return body += '\n';
}

/// The metrics are subresources of a resource that we do not serve. So its responseKind is empty; null would
/// crash clients of Kubernetes 1.26.
void write_parent(json_writer& out, version v, const described& of, const std::vector<std::string>& metrics) {
  out.begin_object().field("resource", of.resource).key("responseKind").begin_object();
  out.field("group", "").field("version", "").field("kind", "").end_object();
  out.field("scope", of.namespaced ? "Namespaced" : "Cluster")
      .field("singularResource", "")
      .key("verbs")
      .begin_array()
      .end_array();
  out.key("subresources").begin_array();
  for (const std::string& metric : metrics) {
    out.begin_object().field("subresource", metric).key("responseKind").begin_object();
    out.field("group", group).field("version", to_string(v)).field("kind", "MetricValueList").end_object();
    out.key("verbs").begin_array().value("get").end_array().end_object();
  }
  out.end_array().end_object();
}

// The same from every replica.
std::string tag_of(std::string_view text) {
  fnv1a hash;
  hash.add(text);
  return fmt::format("\"{:016x}{:x}\"", hash.value(), text.size());
}

tagged_document aggregated(std::string_view api_version, const std::vector<std::string>& metrics, bool pods) {
  std::string body;
  body.reserve(300 * metrics.size() + 1024);
  json_writer out(body);
  out.begin_object().field("kind", "APIGroupDiscoveryList").field("apiVersion", api_version);
  out.key("metadata").begin_object().end_object().key("items").begin_array();
  out.begin_object().key("metadata").begin_object().field("name", group).end_object();
  out.key("versions").begin_array();
  for (const version v : versions) {
    out.begin_object().field("version", to_string(v)).key("resources").begin_array();
    for (const described& of : all_described(pods)) write_parent(out, v, of, metrics);
    out.end_array().field("freshness", "Current").end_object();
  }
  out.end_array().end_object().end_array().end_object();
  return tagged(body += '\n');
}

}  // namespace

tagged_document tagged(std::string body) {
  std::string tag = tag_of(body);
  return {std::move(body), std::move(tag)};
}

discovery_documents::discovery_documents(const std::vector<std::string>& node_metrics, bool pods)
    : groups(group_list()),
      group(one_group()),
      resources{resource_list(version::v1beta1, node_metrics, pods),
                resource_list(version::v1beta2, node_metrics, pods)},
      v2(aggregated("apidiscovery.k8s.io/v2", node_metrics, pods)),
      v2beta1(aggregated("apidiscovery.k8s.io/v2beta1", node_metrics, pods)) {}

}  // namespace binnacle::custom_metrics
