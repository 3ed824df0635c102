#include "aggregator/kube/client/access.hpp"

#include "common/system/read_file.hpp"
#include "common/text/endpoint.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace binnacle::kube {
namespace {

constexpr std::size_t most_bytes = 16u << 20;  // a kubeconfig with the certificates of many clusters

}  // namespace

std::string access::url() const {
  return fmt::format("{}://{}{}", secure ? "https" : "http", host_and_port(host, port), path);
}

result<void> check_direct(const access& to) {
  if (to.proxy.empty()) return {};
  return error{errc::unsupported,
               fmt::format("the kubeconfig has a proxy-url for {}, and only kubectl uses a proxy: name a "
                           "kubeconfig without proxy-url, on a machine that reaches the API server directly",
                           to.url())};
}

result<access> in_cluster(const environment& variables, const std::string& folder) {
  const auto variable = [&](const char* name) {
    const char* value = variables(name);
    return value == nullptr ? std::string() : std::string(value);
  };
  access out;
  out.host = variable("KUBERNETES_SERVICE_HOST");
  const std::string port = variable("KUBERNETES_SERVICE_PORT");
  if (out.host.empty() || port.empty()) {
    return error{
        errc::not_found,
        "this is not a pod of a cluster (KUBERNETES_SERVICE_HOST is not set): name a kubeconfig file with "
        "--kube-config, or leave it out for the standalone mode"};
  }
  const auto number = read_port(port);
  if (!number) return error{errc::invalid_input, "KUBERNETES_SERVICE_PORT is not a port: " + port};
  out.port = *number;
  out.token_file = folder + "/token";
  out.tls.side = tls::role::client;
  out.tls.alpn = "http/1.1";
  out.tls.pem.authority = folder + "/ca.crt";
  if (!std::filesystem::exists(out.token_file)) {
    return error{errc::not_found, fmt::format("the service account's token {} does not exist: the pod needs "
                                              "automountServiceAccountToken: true",
                                              out.token_file)};
  }
  if (auto name_space = read_file(folder + "/namespace", most_bytes); name_space.has_value())
    out.name_space = trimmed(*name_space);
  return out;
}

result<access> access_by(const std::string& kube_config, const std::string& context,
                         const environment& variables) {
  return kube_config == "in-cluster" ? in_cluster(variables) : load_kubeconfig(kube_config, context);
}

result<access> load_kubeconfig(const std::string& paths, const std::string& context) {
  std::vector<kubeconfig_file> files;
  std::string missing;
  for (std::size_t at = 0; at <= paths.size();) {
    const auto colon = std::min(paths.find(':', at), paths.size());
    const std::string path = paths.substr(at, colon - at);
    at = colon + 1;
    if (path.empty()) continue;
    auto text = read_file(path, most_bytes);
    if (text.has_value()) {
      files.push_back({path, std::move(*text)});
    } else if (missing.empty()) {
      missing = fmt::format("{} cannot be read: {}", path, text.error().message);
    }
  }
  if (files.empty()) return error{errc::not_found, missing.empty() ? "no kubeconfig file is named" : missing};
  return parse_kubeconfig(files, context);
}

}  // namespace binnacle::kube
