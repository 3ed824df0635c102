#include "aggregator/custom_metrics/status.hpp"

#include "common/text/json_writer.hpp"

namespace binnacle::custom_metrics {
namespace {

/// Kubernetes' reason for an HTTP status; empty if it has none. Source: k8s.io/apimachinery, pkg/apis/meta/v1
/// StatusReason.
std::string_view reason_of(unsigned code) {
  switch (code) {
    case 400: return "BadRequest";
    case 413: return "RequestEntityTooLarge";
    case 503: return "ServiceUnavailable";
    default: return code >= 500 ? "InternalError" : "";
  }
}

}  // namespace

http::response status(unsigned code, std::string_view reason, std::string_view message,
                      std::string_view details_json) {
  std::string body;
  json_writer out(body);
  out.begin_object().field("kind", "Status").field("apiVersion", "v1");
  out.key("metadata").begin_object().end_object();
  out.field("status", "Failure").field("message", message);
  if (!reason.empty()) out.field("reason", reason);
  if (!details_json.empty()) out.key("details").raw(details_json);
  out.field("code", code).end_object();
  body += '\n';
  return http::response::json(std::move(body), code);
}

http::response failure(unsigned code, std::string_view sentence) {
  return status(code, reason_of(code), sentence);
}

http::response not_found(std::string_view message) { return status(404, "NotFound", message); }

http::response path_not_found() {
  return status(404, "NotFound", "the server could not find the requested resource", "{}");
}

http::response bad_request(std::string_view message) { return status(400, "BadRequest", message); }

http::response method_not_allowed() {
  auto r = status(405, "MethodNotAllowed", "the server does not allow this method on the requested resource",
                  "{}");
  r.headers.emplace_back("Allow", "GET, HEAD");
  return r;
}

http::response not_acceptable() {
  return status(406, "NotAcceptable", "only the following media types are accepted: application/json");
}

http::response unauthorized() {
  return status(401, "Unauthorized",
                "Unauthorized: present a client certificate signed by the authority that this server trusts "
                "for clients");
}

}  // namespace binnacle::custom_metrics
