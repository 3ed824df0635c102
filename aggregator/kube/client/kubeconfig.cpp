#include "aggregator/kube/client/access.hpp"
#include "common/http/base64.hpp"
#include "common/text/endpoint.hpp"
#include "common/text/load_yaml.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <memory>

namespace binnacle::kube {
namespace {

/// A mapping in a kubeconfig file, with what error messages about it need. Reading a field that is no single
/// value throws YAML::Exception, which parse_kubeconfig() turns into an error.
struct section {
  YAML::Node node;
  const kubeconfig_file* file = nullptr;

  bool has(const char* name) const { return node.IsMap() && node[name] && !node[name].IsNull(); }
  std::string text(const char* name) const {
    return has(name) ? node[name].as<std::string>() : std::string();
  }
  /// A file name in the kubeconfig; relative names start from the kubeconfig's folder.
  std::string path(const char* name) const {
    const std::string given = text(name);
    if (given.empty()) return {};
    return (std::filesystem::path(file->path).parent_path() / given).string();
  }
  error wrong(errc code, std::string what) const {
    return {code, fmt::format("{}:{}: {}", file->path, node.Mark().line + 1, what)};
  }
};

struct parsed_file {
  YAML::Node root;
  const kubeconfig_file* file;
};

/// The entry called `name` in a list of {name, KIND}; the first file that has one counts.
std::optional<section> find(const std::vector<parsed_file>& files, const char* list, const char* kind,
                            const std::string& name) {
  for (const parsed_file& f : files) {
    if (!f.root.IsMap() || !f.root[list]) continue;
    for (const YAML::Node& entry : f.root[list]) {
      if (entry["name"] && entry["name"].as<std::string>() == name) return section{entry[kind], f.file};
    }
  }
  return std::nullopt;
}

/// Reads the PEM text of a "…-data" field, or else a file name. If both are given, the text counts, as in
/// kubectl.
result<void> pem(const section& from, const std::string& field, std::string& text, std::string& file) {
  const std::string data_field = field + "-data";
  const std::string data = from.text(data_field.c_str());
  if (data.empty()) {
    file = from.path(field.c_str());
    return {};
  }
  auto decoded = http::from_base64(data);
  if (decoded.has_error())
    return from.wrong(errc::invalid_input, fmt::format("{} {}", data_field, decoded.error().message));
  text = std::move(*decoded);
  return {};
}

result<void> read_cluster(const section& cluster, access& out) {
  const std::string server = cluster.text("server");
  const auto url = boost::urls::parse_uri(server);
  out.secure = url && url->scheme() == "https";
  const auto at = url ? read_endpoint(url->encoded_host_and_port(), out.secure ? 443 : 80) : std::nullopt;
  if (!at || (!out.secure && url->scheme() != "http")) {
    return cluster.wrong(
        errc::invalid_input,
        fmt::format("server '{}' is not an address: write https://HOST:PORT, with a port from 1 to 65535",
                    server));
  }
  out.host =
      url->host_type() == boost::urls::host_type::ipv6 ? std::string(url->host_address()) : url->host();
  out.port = at->port;
  out.path = std::string(url->encoded_path());
  while (out.path.ends_with('/')) out.path.pop_back();
  out.server_name = cluster.text("tls-server-name");
  out.proxy = cluster.text("proxy-url");

  out.tls.side = tls::role::client;
  out.tls.alpn = "http/1.1";
  if (auto read = pem(cluster, "certificate-authority", out.tls.text.authority, out.tls.pem.authority);
      read.has_error())
    return read;
  const bool unchecked =
      cluster.has("insecure-skip-tls-verify") && cluster.node["insecure-skip-tls-verify"].as<bool>();
  const bool given = !out.tls.text.authority.empty() || !out.tls.pem.authority.empty();
  out.tls.servers = unchecked ? tls::trust::anybody : given ? tls::trust::authority : tls::trust::system;
  return {};
}

result<void> read_plugin(const section& user, access& out) {
  const section exec{user.node["exec"], user.file};
  exec_plugin p;
  p.api_version = exec.text("apiVersion");
  if (p.api_version != "client.authentication.k8s.io/v1" &&
      p.api_version != "client.authentication.k8s.io/v1beta1") {
    return exec.wrong(
        errc::unsupported,
        fmt::format("the plug-in's apiVersion '{}' is not supported: client.authentication.k8s.io/v1 is",
                    p.api_version));
  }
  p.command = exec.text("command");
  if (p.command.empty()) return exec.wrong(errc::invalid_input, "the plug-in's command is missing");
  if (p.command.find('/') != std::string::npos) p.command = exec.path("command");
  if (exec.has("args")) p.arguments = exec.node["args"].as<std::vector<std::string>>();
  if (exec.has("env")) {
    for (const YAML::Node& e : exec.node["env"])
      p.environment.emplace_back(e["name"].as<std::string>(), e["value"].as<std::string>());
  }
  p.install_hint = exec.text("installHint");
  p.wants_cluster = exec.has("provideClusterInfo") && exec.node["provideClusterInfo"].as<bool>();
  out.plugin = std::move(p);
  return {};
}

result<void> read_user(const section& user, access& out) {
  for (const char* field :
       {"as", "as-uid", "as-groups", "as-user-extra", "auth-provider", "username", "password"}) {
    if (user.has(field)) {
      return user.wrong(
          errc::unsupported,
          fmt::format("{} is not supported: give the user a certificate, a token, or an exec plug-in",
                      field));
    }
  }
  if (auto read = pem(user, "client-certificate", out.tls.text.certificate, out.tls.pem.certificate);
      read.has_error())
    return read;
  if (auto read = pem(user, "client-key", out.tls.text.key, out.tls.pem.key); read.has_error()) return read;
  const bool certificate = !out.tls.text.certificate.empty() || !out.tls.pem.certificate.empty();
  const bool key = !out.tls.text.key.empty() || !out.tls.pem.key.empty();
  if (certificate != key)
    return user.wrong(errc::invalid_input,
                      "client-certificate and client-key belong together: give both or neither");
  out.token_file = user.path("tokenFile");
  if (out.token_file.empty()) out.token = user.text("token");
  if (user.has("exec") && out.token_file.empty() && out.token.empty()) return read_plugin(user, out);
  return {};
}

result<access> find_access(const std::vector<parsed_file>& files, std::string context) {
  for (const parsed_file& f : files) {
    if (context.empty()) context = section{f.root, f.file}.text("current-context");
  }
  const std::string& first = files.front().file->path;
  if (context.empty()) {
    return error{
        errc::not_found,
        first + " has no current-context: name one with --kube-context, or kubectl config use-context"};
  }
  const auto found = find(files, "contexts", "context", context);
  if (!found) return error{errc::not_found, fmt::format("{} has no context '{}'", first, context)};
  access out;
  const auto cluster = find(files, "clusters", "cluster", found->text("cluster"));
  if (!cluster)
    return found->wrong(errc::not_found, fmt::format("there is no cluster '{}'", found->text("cluster")));
  if (auto read = read_cluster(*cluster, out); read.has_error()) return read.error();
  if (const std::string name = found->text("user"); !name.empty()) {
    const auto user = find(files, "users", "user", name);
    if (!user) return found->wrong(errc::not_found, fmt::format("there is no user '{}'", name));
    if (auto read = read_user(*user, out); read.has_error()) return read.error();
  }
  if (found->has("namespace")) out.name_space = found->text("namespace");
  return out;
}

}  // namespace

result<access> parse_kubeconfig(const std::vector<kubeconfig_file>& files, const std::string& context) {
  std::vector<parsed_file> parsed;
  const kubeconfig_file* at = nullptr;
  try {
    for (const kubeconfig_file& f : files) {
      at = &f;
      parsed.push_back({load_yaml(f.text), &f});
    }
    return find_access(parsed, context);
  } catch (const YAML::Exception& e) {
    return error{errc::invalid_input, fmt::format("{}:{}: this is not a kubeconfig: {}",
                                                  at == nullptr ? "" : at->path, e.mark.line + 1, e.msg)};
  }
}

}  // namespace binnacle::kube
