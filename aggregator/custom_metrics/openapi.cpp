#include "aggregator/custom_metrics/openapi.hpp"

#include "common/text/json_writer.hpp"

#include <fmt/format.h>

#include <array>

namespace binnacle::custom_metrics {
namespace {

/// What differs between Swagger 2.0 and OpenAPI 3.
enum class edition : unsigned char { v2, v3 };

std::string base_of(version v) { return fmt::format("/apis/{}/{}", group, to_string(v)); }
std::string schema_name(version v, std::string_view what) {
  return fmt::format("io.k8s.metrics.pkg.apis.custom_metrics.{}.{}", to_string(v), what);
}

void write_ref(json_writer& out, edition e, version v, std::string_view what) {
  const std::string_view folder = e == edition::v2 ? "#/definitions/" : "#/components/schemas/";
  out.begin_object().field("$ref", std::string(folder) + schema_name(v, what)).end_object();
}

void write_text(json_writer& out, std::string_view name, std::string_view what) {
  out.key(name).begin_object().field("type", "string").field("description", what).end_object();
}

void write_schemas(json_writer& out, edition e, version v) {
  out.key(schema_name(v, "MetricValueList")).begin_object().field("type", "object");
  out.field("description", "Values of one metric, one for each object described.");
  out.key("required").begin_array().value("metadata").value("items").end_array();
  out.key("properties").begin_object();
  write_text(out, "apiVersion", "the version of this form");
  write_text(out, "kind", "MetricValueList");
  out.key("metadata").begin_object().field("type", "object").end_object();
  out.key("items").begin_object().field("type", "array").key("items");
  write_ref(out, e, v, "MetricValue");
  out.end_object().end_object().key("x-kubernetes-group-version-kind").begin_array().begin_object();
  out.field("group", group).field("kind", "MetricValueList").field("version", to_string(v));
  out.end_object().end_array().end_object();

  out.key(schema_name(v, "MetricValue")).begin_object().field("type", "object");
  out.field("description", "A metric's value for one object.");
  out.key("properties").begin_object();
  out.key("describedObject").begin_object().field("type", "object").end_object();
  if (v == version::v1beta1) {
    write_text(out, "metricName", "the metric");
    out.key("selector").begin_object().field("type", "object").end_object();
  } else {
    out.key("metric").begin_object().field("type", "object").end_object();
  }
  write_text(out, "timestamp", "when the value was read on the node, RFC 3339");
  out.key(v == version::v1beta1 ? "window" : "windowSeconds").begin_object().field("type", "integer");
  out.field("format", "int64")
      .field("description", "seconds before the timestamp that the value covers")
      .end_object();
  write_text(out, "value", "a quantity");
  out.end_object().end_object();
}

void write_parameter(json_writer& out, edition e, std::string_view name, std::string_view in,
                     std::string_view what) {
  out.begin_object().field("name", name).field("in", in).field("description", what);
  if (in == "path") out.field("required", true);
  if (e == edition::v2) {
    out.field("type", "string").field("uniqueItems", true);
  } else {
    out.key("schema").begin_object().field("type", "string").field("uniqueItems", true).end_object();
  }
  out.end_object();
}

/// GET of `path`; `id` is unique over all paths.
void write_get(json_writer& out, edition e, version v, const std::string& path, const std::string& id,
               std::string_view description, const std::vector<std::string_view>& in_path) {
  out.key(path).begin_object().key("get").begin_object();
  out.field("description", description).field("operationId", id);
  if (!in_path.empty()) {
    out.field("x-kubernetes-action", "get").key("x-kubernetes-group-version-kind").begin_object();
    out.field("group", group).field("kind", "MetricValueList").field("version", to_string(v)).end_object();
    out.key("parameters").begin_array();
    for (const std::string_view name : in_path)
      write_parameter(out, e, name, "path", "name of the " + std::string(name));
    write_parameter(out, e, "labelSelector", "query", "with the name *: labels of the objects");
    write_parameter(out, e, "metricLabelSelector", "query", "labels of the metric's series");
    out.end_array();
  }
  if (e == edition::v2) out.key("produces").begin_array().value("application/json").end_array();
  out.key("responses").begin_object().key("200").begin_object().field("description", "OK");
  if (!in_path.empty()) {
    if (e == edition::v3) out.key("content").begin_object().key("application/json").begin_object();
    out.key("schema");
    write_ref(out, e, v, "MetricValueList");
    if (e == edition::v3) out.end_object().end_object();
  }
  out.end_object().end_object().end_object().end_object();
}

void write_paths(json_writer& out, edition e, version v) {
  const std::string base = base_of(v);
  const std::string id = v == version::v1beta1 ? "CustomMetricsV1beta1" : "CustomMetricsV1beta2";
  write_get(out, e, v, base + "/", "get" + id + "APIResources", "every metric there is", {});
  write_get(out, e, v, base + "/nodes/{node}/{metric}", "get" + id + "Node",
            "a metric of a node, or of all (*)", {"node", "metric"});
  write_get(out, e, v, base + "/namespaces/{namespace}/pods/{pod}/{metric}", "get" + id + "Pod",
            "a metric of a pod, or of all in the namespace (*)", {"namespace", "pod", "metric"});
}

void write_info(json_writer& out) {
  out.key("info").begin_object().field("title", "Binnacle custom metrics");
  out.field("version", "v" BINNACLE_VERSION).end_object();
}

tagged_document swagger() {
  std::string body;
  json_writer out(body);
  out.begin_object().field("swagger", "2.0");
  write_info(out);
  out.key("paths").begin_object();
  for (const version v : versions) write_paths(out, edition::v2, v);
  out.end_object().key("definitions").begin_object();
  for (const version v : versions) write_schemas(out, edition::v2, v);
  out.end_object().end_object();
  return tagged(body += '\n');
}

tagged_document openapi(version v) {
  std::string body;
  json_writer out(body);
  out.begin_object().field("openapi", "3.0.0");
  write_info(out);
  out.key("paths").begin_object();
  write_paths(out, edition::v3, v);
  out.end_object().key("components").begin_object().key("schemas").begin_object();
  write_schemas(out, edition::v3, v);
  out.end_object().end_object().end_object();
  return tagged(body += '\n');
}

/// Clients keep a document as long as its address, which contains a hash, stays the same.
tagged_document index(const tagged_document (&documents)[2]) {
  std::string body;
  json_writer out(body);
  out.begin_object().key("paths").begin_object();
  for (const version v : versions) {
    const std::string& tag = documents[static_cast<std::size_t>(v)].etag;  // with its quotes
    out.key(base_of(v).substr(1)).begin_object();
    out.field("serverRelativeURL",
              fmt::format("/openapi/v3{}?hash={}", base_of(v), tag.substr(1, tag.size() - 2)));
    out.end_object();
  }
  out.end_object().end_object();
  return tagged(body += '\n');
}

}  // namespace

openapi_documents::openapi_documents()
    : v2_(swagger()), v3_{openapi(version::v1beta1), openapi(version::v1beta2)} {
  v3_index_ = index(v3_);
}

const tagged_document* openapi_documents::find(const std::vector<std::string>& path) const {
  if (path.size() < 2 || path[0] != "openapi") return nullptr;
  if (path.size() == 2) return path[1] == "v2" ? &v2_ : path[1] == "v3" ? &v3_index_ : nullptr;
  const custom_metrics::path about = parse_path({path.begin() + 2, path.end()});
  const bool known = path[1] == "v3" && about.kind == custom_metrics::path::what::resources;
  return known ? &v3_[static_cast<std::size_t>(about.api)] : nullptr;
}

}  // namespace binnacle::custom_metrics
