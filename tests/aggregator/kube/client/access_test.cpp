#include "aggregator/kube/client/access.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <map>

namespace access_test {

namespace {

using namespace binnacle;

const std::string usual = R"(apiVersion: v1
kind: Config
current-context: lab
contexts:
- {name: lab, context: {cluster: lab, user: admin, namespace: ops}}
- {name: other, context: {cluster: far, user: robot}}
clusters:
- name: lab
  cluster: {server: "https://[fd00::7]:6443/", certificate-authority: pki/ca.crt, tls-server-name: kubernetes}
- name: far
  cluster: {server: https://rancher.example/k8s/clusters/c-1, certificate-authority-data: aGVsbG8=}
users:
- {name: admin, user: {client-certificate: pki/admin.crt, client-key: /abs/admin.key}}
- {name: robot, user: {token: abc, tokenFile: tok}}
)";

result<kube::access> read(const std::string& text, const std::string& context = {}) {
  return kube::parse_kubeconfig({{"/home/me/.kube/config", text}}, context);
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST_SUITE("aggregator/kube/client/access") {
  TEST_CASE("a kubeconfig's current context says where and as whom") {
    const auto a = read(usual);
    REQUIRE(a.has_value());
    CHECK(a->host == "fd00::7");
    CHECK(a->port == 6443);
    CHECK(a->secure);
    CHECK(a->url() == "https://[fd00::7]:6443");
    CHECK(a->server_name == "kubernetes");
    CHECK(a->name_space == "ops");
    CHECK(a->tls.pem.authority == "/home/me/.kube/pki/ca.crt");
    CHECK(a->tls.pem.certificate == "/home/me/.kube/pki/admin.crt");
    CHECK(a->tls.pem.key == "/abs/admin.key");
    CHECK(a->tls.servers == tls::trust::authority);
  }

  TEST_CASE(
      "another context, a path in the server's address, inline data; a token's file wins over the token") {
    const auto a = read(usual, "other");
    REQUIRE(a.has_value());
    CHECK(a->host == "rancher.example");
    CHECK(a->port == 443);
    CHECK(a->path == "/k8s/clusters/c-1");
    CHECK(a->tls.text.authority == "hello");
    CHECK(a->token_file == "/home/me/.kube/tok");
    CHECK(a->token.empty());
    CHECK(a->name_space == "default");
  }

  TEST_CASE("without an authority the machine's own count, and none when that is asked for") {
    const std::string bare = changed(usual, "certificate-authority: pki/ca.crt, ", "");
    CHECK(read(bare)->tls.servers == tls::trust::system);
    const auto insecure =
        changed(usual, "certificate-authority: pki/ca.crt", "insecure-skip-tls-verify: true");
    CHECK(read(insecure)->tls.servers == tls::trust::anybody);
  }

  TEST_CASE("behind a proxy the identity is read all the same, and only calls are refused") {
    const auto a =
        read(changed(usual, "tls-server-name: kubernetes", "proxy-url: socks5://me:s3cret@proxy:1080"));
    REQUIRE(a.has_value());
    CHECK(a->tls.pem.certificate == "/home/me/.kube/pki/admin.crt");
    const auto direct = kube::check_direct(*a);
    REQUIRE(direct.has_error());
    CHECK(direct.error().code == errc::unsupported);
    CHECK(direct.error().message.find("proxy-url") != std::string::npos);
    CHECK(direct.error().message.find("s3cret") == std::string::npos);
    CHECK(kube::check_direct(*read(usual)).has_value());
  }

  TEST_CASE("an exec plug-in with its arguments and environment") {
    const auto a =
        read(changed(usual, "{token: abc, tokenFile: tok}",
                     "{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./aws, args: [eks, "
                     "get-token], env: [{name: A, value: b}], installHint: install it}}"),
             "other");
    REQUIRE(a.has_value());
    REQUIRE(a->plugin.has_value());
    CHECK(a->plugin->command == "/home/me/.kube/./aws");
    CHECK(a->plugin->arguments == std::vector<std::string>{"eks", "get-token"});
    CHECK(a->plugin->environment.front().second == "b");
    CHECK(a->plugin->install_hint == "install it");
  }

  TEST_CASE("of several files the first that names something counts") {
    const std::string second =
        changed(changed(usual, "fd00::7", "fd00::8"), "current-context: lab", "current-context: other");
    const std::vector<kube::kubeconfig_file> both{
        {"/a/config", "current-context: other\n"}, {"/b/config", usual}, {"/c/config", second}};
    const auto a = kube::parse_kubeconfig(both);
    REQUIRE(a.has_value());
    CHECK(a->host == "rancher.example");
    CHECK(a->token_file == "/b/tok");
    CHECK(kube::parse_kubeconfig(both, "lab")->host == "fd00::7");
  }

  TEST_CASE("what is wrong is named with its file and what to do") {
    struct row {
      const char* from;
      const char* to;
      errc code;
      const char* says;
    };
    const row table[] = {
        {"current-context: lab", "", errc::not_found, "no current-context"},
        {"current-context: lab", "current-context: gone", errc::not_found, "no context 'gone'"},
        {"cluster: lab, user", "cluster: nowhere, user", errc::not_found, "no cluster 'nowhere'"},
        {"user: admin,", "user: nobody,", errc::not_found, "no user 'nobody'"},
        {"https://[fd00::7]:6443/", "fd00::7", errc::invalid_input, "is not an address"},
        {"https://[fd00::7]:6443/", "ftp://host", errc::invalid_input, "is not an address"},
        {"https://[fd00::7]:6443/", "https://host:0", errc::invalid_input, "a port from 1 to 65535"},
        {"https://[fd00::7]:6443/", "https://host:65536", errc::invalid_input, "a port from 1 to 65535"},
        {"https://[fd00::7]:6443/", "https://:6443", errc::invalid_input, "is not an address"},
        {"certificate-authority: pki/ca.crt", "certificate-authority-data: '*'", errc::invalid_input,
         "not base64"},
        {", client-key: /abs/admin.key", "", errc::invalid_input, "belong together"},
        {"client-certificate: pki/admin.crt, client-key: /abs/admin.key", "username: u, password: s3cret",
         errc::unsupported, "username"},
        {"client-certificate: pki/admin.crt, client-key: /abs/admin.key", "as: root", errc::unsupported,
         "as is not"},
        {"client-certificate: pki/admin.crt, client-key: /abs/admin.key",
         "exec: {apiVersion: v1, command: x}", errc::unsupported, "apiVersion 'v1'"},
        {"clusters:", "clusters: [", errc::invalid_input, "not a kubeconfig"},
        {"{name: lab, context: {cluster: lab,", "{name: lab, context: {cluster: [lab],", errc::invalid_input,
         "not a kubeconfig"},
    };
    for (const row& r : table) {
      CAPTURE(r.to);
      const auto a = read(changed(usual, r.from, r.to));
      REQUIRE(a.has_error());
      CHECK(a.error().code == r.code);
      CAPTURE(a.error().message);
      CHECK(a.error().message.starts_with("/home/me/.kube/config"));
      CHECK(a.error().message.find(r.says) != std::string::npos);
      CHECK(a.error().message.find("s3cret") == std::string::npos);
    }
    for (const char* text : {"", "[]", "plain", "users: {}", "current-context: {a: b}", "contexts: [1]"})
      CHECK(read(text).has_error());
  }

  TEST_CASE("a pod finds its API server and its service account") {
    const support::temp_folder folder;
    std::map<std::string, std::string> variables{{"KUBERNETES_SERVICE_HOST", "fd00::1"},
                                                 {"KUBERNETES_SERVICE_PORT", "443"}};
    const auto look = [&](const char* name) {
      return variables.contains(name) ? variables[name].c_str() : nullptr;
    };
    CHECK(kube::in_cluster(look, folder.path()).error().message.find("automount") != std::string::npos);
    folder.write("token", "abc");
    folder.write("namespace", "binnacle\n");
    const auto a = kube::in_cluster(look, folder.path());
    REQUIRE(a.has_value());
    CHECK(a->url() == "https://[fd00::1]:443");
    CHECK(a->token_file == folder / "token");
    CHECK(a->tls.pem.authority == folder / "ca.crt");
    CHECK(a->name_space == "binnacle");
    variables.erase("KUBERNETES_SERVICE_HOST");
    CHECK(kube::in_cluster(look, folder.path()).error().code == errc::not_found);
  }

  TEST_CASE("files of a list that do not exist are passed over, but not all of them") {
    const support::temp_folder folder;
    folder.write("config", usual);
    CHECK(kube::load_kubeconfig(folder / "none" + ":" + folder / "config").has_value());
    CHECK(kube::load_kubeconfig(folder / "none").error().code == errc::not_found);
    CHECK(kube::load_kubeconfig("").error().code == errc::not_found);
  }
}

}  // namespace

}  // namespace access_test
