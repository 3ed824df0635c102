#include "aggregator/callers/attributes.hpp"

#include "common/text/text.hpp"

#include <fmt/format.h>

#include <span>

namespace binnacle::callers {
namespace {

std::string verb_of(const http::request& r, bool named) {
  if (r.method == "GET") return named ? "get" : "list";
  if (r.method == "POST") return "create";
  if (r.method == "PUT") return "update";
  if (r.method == "PATCH") return "patch";
  if (r.method == "DELETE") return named ? "delete" : "deletecollection";
  return {};
}

}  // namespace

kube::access_question path_attributes(const http::request& r) {
  kube::access_question out;
  out.path = r.decoded_path();
  // The ClusterRole system:discovery lets every user of the cluster read "/api/*": another path is asked for.
  if (!r.path.empty() && r.path[0] == "api") out.path = "/binnacle" + out.path;
  out.verb = lowered(r.method);
  return out;
}

kube::access_question resource_attributes(const http::request& r) {
  std::span<const std::string> s(r.path);
  if (s.size() < 4 || s[0] != "apis") return path_attributes(r);
  kube::access_question out;
  out.group = s[1];
  out.version = s[2];
  s = s.subspan(3);
  if (s[0] == "namespaces" && s.size() > 1) {
    out.name_space = s[1];
    if (s.size() > 2) s = s.subspan(2);
  }
  out.resource = s[0];
  if (s.size() > 1) out.name = s[1];
  if (s.size() > 2) out.subresource = s[2];
  out.verb = verb_of(r, !out.name.empty());
  return out;
}

bool open_to_all(const http::request& r) {
  return r.path.size() == 1 && (r.path[0] == "livez" || r.path[0] == "readyz" || r.path[0] == "healthz");
}

bool open_to_known(const http::request& r) {
  if (r.method != "GET" || r.path.empty()) return false;
  if (r.path[0] == "apis") return r.path.size() < 4;
  return r.path[0] == "openapi" || (r.path.size() == 1 && r.path[0] == "version");
}

std::string forbidden(const kube::access_question& q) {
  if (!q.path.empty())
    return fmt::format("forbidden: User \"{}\" cannot {} path \"{}\"", q.who.name, q.verb, q.path);
  const std::string resource = q.subresource.empty() ? q.resource : q.resource + "/" + q.subresource;
  const std::string where =
      q.name_space.empty() ? "at the cluster scope" : fmt::format("in the namespace \"{}\"", q.name_space);
  return fmt::format(
      "{}.{} \"{}\" is forbidden: User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {}", q.resource,
      q.group, q.name, q.who.name, q.verb, resource, q.group, where);
}

}  // namespace binnacle::callers
