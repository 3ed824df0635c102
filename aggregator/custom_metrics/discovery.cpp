#include "aggregator/custom_metrics/discovery.hpp"

#include <fmt/format.h>

#include <utility>

namespace binnacle::custom_metrics {
namespace {

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

// The same from every replica.
std::string tag_of(const fnv1a& hash, std::size_t bytes) {
  return fmt::format("\"{:016x}{:x}\"", hash.value(), bytes);
}

}  // namespace

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

tagged_document tagged(std::string body) {
  fnv1a hash;
  hash.add(body);
  std::string tag = tag_of(hash, body.size());
  return {std::move(body), std::move(tag)};
}

discovery_document::discovery_document(which what,
                                       std::shared_ptr<const std::vector<std::string>> node_metrics,
                                       bool pods)
    : what_(what), metrics_(std::move(node_metrics)) {
  const auto add_version = [&](version v) {
    sections_.push_back({v, "nodes", false, true, !pods});
    if (pods) sections_.push_back({v, "pods", true, false, true});
  };
  if (aggregated()) {
    for (const version v : versions) add_version(v);
  } else {
    add_version(what_ == which::resources_v1beta1 ? version::v1beta1 : version::v1beta2);
  }
  std::size_t bytes = 0;
  for (const std::string& metric : *metrics_) bytes += 150 + metric.size();
  made_.body.reserve(sections_.size() * bytes + 1024);
  begin();
}

bool discovery_document::step() {
  if (section_ == sections_.size()) return false;
  for (std::size_t left = entries_per_step; left > 0 && section_ < sections_.size(); --left) {
    const section& s = sections_[section_];
    if (metric_ == 0) begin(s);
    if (metric_ < metrics_->size()) add(s, (*metrics_)[metric_++]);
    if (metric_ < metrics_->size()) continue;
    end(s);
    metric_ = 0;
    ++section_;
  }
  const bool more = section_ < sections_.size();
  if (!more) end();
  hash_.add(std::string_view(made_.body).substr(hashed_));
  hashed_ = made_.body.size();
  if (!more) made_.etag = tag_of(hash_, hashed_);
  return more;
}

void discovery_document::begin() {
  out_.begin_object();
  if (!aggregated()) {
    out_.field("kind", "APIResourceList").field("apiVersion", "v1");
    out_.field("groupVersion", group_version(sections_.front().api)).key("resources").begin_array();
    return;
  }
  out_.field("kind", "APIGroupDiscoveryList");
  out_.field("apiVersion",
             what_ == which::aggregated_v2 ? "apidiscovery.k8s.io/v2" : "apidiscovery.k8s.io/v2beta1");
  out_.key("metadata").begin_object().end_object().key("items").begin_array();
  out_.begin_object().key("metadata").begin_object().field("name", group).end_object();
  out_.key("versions").begin_array();
}

// In the aggregated form, the metrics are subresources of a resource that we do not serve. So its
// responseKind is empty; null would crash clients of Kubernetes 1.26.
void discovery_document::begin(const section& s) {
  if (!aggregated()) return;
  if (s.first) out_.begin_object().field("version", to_string(s.api)).key("resources").begin_array();
  out_.begin_object().field("resource", s.resource).key("responseKind").begin_object();
  out_.field("group", "").field("version", "").field("kind", "").end_object();
  out_.field("scope", s.namespaced ? "Namespaced" : "Cluster").field("singularResource", "");
  out_.key("verbs").begin_array().end_array().key("subresources").begin_array();
}

void discovery_document::add(const section& s, const std::string& metric) {
  out_.begin_object();
  if (aggregated()) {
    out_.field("subresource", metric).key("responseKind").begin_object();
    out_.field("group", group).field("version", to_string(s.api)).field("kind", "MetricValueList");
    out_.end_object();
  } else {
    out_.field("name", fmt::format("{}/{}", s.resource, metric)).field("singularName", "");
    out_.field("namespaced", s.namespaced).field("kind", "MetricValueList");
  }
  out_.key("verbs").begin_array().value("get").end_array().end_object();
}

void discovery_document::end(const section& s) {
  if (!aggregated()) return;
  out_.end_array().end_object();
  if (s.last) out_.end_array().field("freshness", "Current").end_object();
}

void discovery_document::end() {
  out_.end_array().end_object();
  if (aggregated()) out_.end_array().end_object();
  made_.body += '\n';
}

}  // namespace binnacle::custom_metrics
