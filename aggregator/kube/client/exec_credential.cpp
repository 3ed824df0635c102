#include "aggregator/kube/client/exec_credential.hpp"

#include "aggregator/kube/json.hpp"
#include "aggregator/kube/times.hpp"
#include "common/http/base64.hpp"
#include "common/text/json_members.hpp"
#include "common/text/json_writer.hpp"

namespace binnacle::kube {

result<exec_credential> parse_exec_credential(std::string_view output, const std::string& api_version) {
  const auto wrong = [](const char* what) {
    return error{errc::protocol, std::string("the plug-in's answer ") + what};
  };
  const auto parsed = parse_object(output);
  if (parsed.has_error()) return wrong("is not a JSON object");
  if (text_in(*parsed, "kind") != "ExecCredential") return wrong("is not an ExecCredential");
  if (text_in(*parsed, "apiVersion") != api_version)
    return wrong("has another apiVersion than the kubeconfig names");
  const auto* status = object_in(*parsed, "status");
  if (status == nullptr) return wrong("has no status: it may want to be run by hand once, to log in");
  exec_credential out;
  out.token = text_in(*status, "token");
  out.certificate = text_in(*status, "clientCertificateData");
  out.key = text_in(*status, "clientKeyData");
  if (out.certificate.empty() != out.key.empty())
    return wrong("has a certificate without its key, or the reverse");
  if (out.token.empty() && out.certificate.empty()) return wrong("has neither token nor certificate");
  if (const auto until = text_in(*status, "expirationTimestamp"); !until.empty()) {
    out.expires = parse_rfc3339(until);
    if (!out.expires) return wrong("has an expirationTimestamp that is not a time");
  }
  return out;
}

std::string exec_info(const access& to, std::string_view authority) {
  std::string text;
  json_writer out(text);
  out.begin_object().field("kind", "ExecCredential").field("apiVersion", to.plugin->api_version);
  out.key("spec").begin_object().field("interactive", false);
  if (to.plugin->wants_cluster) {
    out.key("cluster").begin_object().field("server", to.url());
    if (!to.server_name.empty()) out.field("tls-server-name", to.server_name);
    if (to.tls.servers == tls::trust::anybody) out.field("insecure-skip-tls-verify", true);
    if (!authority.empty()) out.field("certificate-authority-data", http::to_base64(authority));
    if (!to.proxy.empty()) out.field("proxy-url", to.proxy);
    out.end_object();
  }
  out.end_object().end_object();
  return text;
}

}  // namespace binnacle::kube
