#include "aggregator/kube/objects/merge_patch.hpp"

#include "aggregator/kube/objects/node_objects.hpp"
#include "common/text/json_writer.hpp"

namespace binnacle::kube {
namespace {

http::call patch(std::string target, std::string body, std::string_view accept) {
  http::call out;
  out.method = "PATCH";
  out.target = std::move(target);
  out.headers = {{"Content-Type", "application/merge-patch+json"}, {"Accept", std::string(accept)}};
  out.body = std::move(body);
  return out;
}

void write(json_writer& out, std::string_view name, const key_changes& changes) {
  if (changes.empty()) return;
  out.key(name).begin_object();
  for (const auto& [key, value] : changes) {
    out.key(key);
    if (value) {
      out.value(*value);
    } else {
      out.null();
    }
  }
  out.end_object();
}

}  // namespace

http::call node_patch(const std::string& node, const key_changes& labels, const key_changes& annotations,
                      const std::string& version) {
  std::string body;
  json_writer out(body);
  out.begin_object().key("metadata").begin_object();
  if (!version.empty()) out.field("resourceVersion", version);
  write(out, "labels", labels);
  write(out, "annotations", annotations);
  out.end_object().end_object();
  return patch("/api/v1/nodes/" + node, std::move(body), node_objects::accept);
}

http::call status_patch(const std::string& target, const std::string& status) {
  std::string body;
  json_writer out(body);
  out.begin_object().key("status").raw(status).end_object();
  return patch(target + "/status", std::move(body), "application/json");
}

}  // namespace binnacle::kube
