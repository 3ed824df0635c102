#include "aggregator/kube/client/exec_credential.hpp"

#include <doctest/doctest.h>

namespace exec_credential_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;

const std::string v1 = "client.authentication.k8s.io/v1";

std::string answer(const std::string& status) {
  return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" + status +
         "}";
}

TEST_SUITE("aggregator/kube/client/exec_credential") {
  TEST_CASE("a token with its end, a certificate with its key") {
    const auto token = kube::parse_exec_credential(
        answer(R"({"token":"abc","expirationTimestamp":"2026-01-01T00:00:00Z"})"), v1);
    REQUIRE(token.has_value());
    CHECK(token->token == "abc");
    CHECK(token->expires == std::chrono::system_clock::time_point(1'767'225'600s));
    const auto pair =
        kube::parse_exec_credential(answer(R"({"clientCertificateData":"C","clientKeyData":"K"})"), v1);
    REQUIRE(pair.has_value());
    CHECK(pair->certificate == "C");
    CHECK(pair->key == "K");
    CHECK_FALSE(pair->expires.has_value());
  }

  TEST_CASE("an output that is not a credential is refused, and the message does not quote it") {
    for (
        const std::string& text :
        {std::string("please log in: s3cret"), std::string("[]"), answer("null"), answer("{}"),
         answer(R"({"clientCertificateData":"C"})"),
         answer(R"({"token":"s3cret","expirationTimestamp":"soon"})"),
         std::string(
             R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"s3cret"}})"),
         std::string(R"({"kind":"Status","status":{"token":"s3cret"}})")}) {
      CAPTURE(text);
      const auto parsed = kube::parse_exec_credential(text, v1);
      REQUIRE(parsed.has_error());
      CHECK(parsed.error().message.find("s3cret") == std::string::npos);
    }
  }

  TEST_CASE("the plug-in is told which cluster, if it wants to know") {
    kube::access a;
    a.host = "api.example";
    a.port = 6443;
    a.plugin = kube::exec_plugin{v1, "plugin"};
    CHECK(
        kube::exec_info(a, "hello") ==
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}})");
    a.plugin->wants_cluster = true;
    CHECK(
        kube::exec_info(a, "hello")
            .find(
                R"("cluster":{"server":"https://api.example:6443","certificate-authority-data":"aGVsbG8="})") !=
        std::string::npos);
    a.proxy = "socks5://proxy:1080";
    CHECK(kube::exec_info(a, "").find(
              R"("cluster":{"server":"https://api.example:6443","proxy-url":"socks5://proxy:1080"})") !=
          std::string::npos);
  }
}

}  // namespace

}  // namespace exec_credential_test
