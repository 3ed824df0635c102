#include "aggregator/settings/config.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace aggregator_config_test {

using namespace binnacle;
using namespace binnacle::aggregator;

namespace {

TEST_SUITE("aggregator/settings/config") {
  TEST_CASE("the printed file is one that --config takes") {
    settings s;
    auto spec = bind(s);
    support::temp_folder folder;
    folder.write("printed.yaml", spec.commented_defaults());
    const auto file = folder / "printed.yaml";
    const char* const flags[] = {"binnacle-aggregator", "--config", file.c_str()};
    std::ostringstream out;
    const auto done = spec.parse(3, flags, out);
    CHECK_MESSAGE(done.has_value(), done.error().message);
  }

  TEST_CASE("a TAS Deployment's flags are taken as they stand, with one dash and with two") {
    for (const std::vector<const char*>& flags : {
             std::vector{"--port=9101", "--cert=/tls/tls.crt", "--key=/tls/tls.key", "--cacert=/ca/ca.crt",
                         "--kubeConfig=/etc/kube.conf", "--cachePort=8111", "--syncPeriod=5s",
                         "--unsafe=false", "--v=4", "--logtostderr"},
             std::vector{"-port=9101", "-cert=/tls/tls.crt", "-key=/tls/tls.key", "-cacert=/ca/ca.crt",
                         "-kubeConfig=/etc/kube.conf", "-cachePort=8111", "-syncPeriod=5s", "-unsafe=false",
                         "-v=4", "-logtostderr=true"},
             std::vector{"--port", "9101", "-cert", "/tls/tls.crt", "--key", "/tls/tls.key", "-cacert",
                         "/ca/ca.crt", "-kubeConfig", "/etc/kube.conf", "--cachePort", "8111", "-syncPeriod",
                         "5s", "-v", "4", "-logtostderr"},
         }) {
      settings s;
      auto spec = bind(s);
      std::vector<const char*> words{"binnacle-aggregator"};
      words.insert(words.end(), flags.begin(), flags.end());
      std::ostringstream out;
      const auto done = spec.parse(static_cast<int>(words.size()), words.data(), out);
      REQUIRE_MESSAGE(done.has_value(), done.error().message);
      CHECK(s.extender_port == 9101);
      CHECK(s.cert == "/tls/tls.crt");
      CHECK(s.key == "/tls/tls.key");
      CHECK(s.clients_ca == "/ca/ca.crt");
      CHECK(s.kube_config == "/etc/kube.conf");
      CHECK_FALSE(s.unsafe);
      const auto noted = [&](std::string_view what) {
        return std::ranges::any_of(done->notes, [&](const std::string& n) { return n.starts_with(what); });
      };
      CHECK(noted("--syncPeriod is not needed"));
      CHECK(noted("--cachePort is not needed"));
      CHECK(noted("klog's -v is not used"));
      CHECK(noted("klog's -logtostderr is not used"));
      CHECK(done->notes.size() == 4);
    }
  }

  TEST_CASE("a prefix of URIs after which a node's name would not stand alone is refused") {
    support::temp_folder folder;
    settings s;
    s.cert = s.key = s.agents_ca = s.clients_ca = "x.pem";
    s.policies = folder.path();
    for (const char* good : {"spiffe://td/", "spiffe://cluster.example/binnacle/node/"}) {
      s.agents_uri_prefix = good;
      CHECK(validate(s).has_value());
    }
    for (const char* bad : {"spiffe://", "spiffe:///", "spiffe://td", "spiffe://td/node", "://td/",
                            "td/node/", "spiffe://td/a?/", "spiffe://td/%6e/"}) {
      CAPTURE(bad);
      s.agents_uri_prefix = bad;
      REQUIRE(validate(s).has_error());
      CHECK(validate(s).error().message.starts_with("--agents-uri-prefix"));
    }
  }

  TEST_CASE("what remote write is told must fit together, and no secret goes over plain HTTP") {
    const auto why = [](const std::function<void(settings&)>& change) {
      settings s;
      s.cert = s.key = s.agents_ca = s.clients_ca = "x.pem";
      s.kube_config = "in-cluster";
      s.remote_write.url = "https://prom.example/api/v1/write";
      change(s);
      const auto valid = validate(s);
      return valid.has_error() ? valid.error().message : std::string();
    };
    CHECK(why([](settings&) {}).empty());
    CHECK(why([](settings& s) { s.remote_write.token = "t"; }).empty());
    CHECK(why([](settings& s) { s.remote_write.url = "http://prom.example/w"; }).empty());
    CHECK(why([](settings& s) {
            s.remote_write.url = "prom.example";
          }).starts_with("--remote-write is not a URL"));
    CHECK(why([](settings& s) { s.remote_write.url.clear(), s.remote_write.ca = "ca"; }) ==
          "--remote-write-ca is given without --remote-write: name the URL, too");
    CHECK(why([](settings& s) { s.remote_write.cert = "c"; }).find("give both") != std::string::npos);
    CHECK(why([](settings& s) { s.remote_write.user = "u"; }).find("has no password") != std::string::npos);
    CHECK(why([](settings& s) {
            s.remote_write.url = "http://prom.example/w", s.remote_write.token = "t";
          }).find("everybody on the way may read") != std::string::npos);
    // The settings of OTLP follow the same rules, under their own names.
    CHECK(why([](settings& s) { s.otlp.url = "https://collector.example:4318/v1/metrics"; }).empty());
    CHECK(why([](settings& s) { s.otlp.url = "collector.example"; }).starts_with("--otlp is not a URL"));
    CHECK(why([](settings& s) { s.otlp.token = "t"; }) ==
          "--otlp-token is given without --otlp: name the URL, too");
    CHECK(why([](settings& s) {
            s.remote_write.url = "http://mimir:8080/w", s.remote_write.headers = {"X-Scope-OrgID: team-a"};
          }).empty());
    CHECK(why([](settings& s) { s.remote_write.headers = {"Authorization: Bearer hunter2"}; }) ==
          "--remote-write-headers: Authorization is a header that is set already: leave it out");
    CHECK(why([](settings& s) { s.otlp.headers = {"X-Scope-OrgID: team-a"}; }) ==
          "--otlp-headers is given without --otlp: name the URL, too");
    CHECK(why([](settings& s) { s.otlp.headers_file = "h"; }) ==
          "--otlp-headers-file is given without --otlp: name the URL, too");
    CHECK(why([](settings& s) {
            s.remote_write.url = "http://prom.example/w", s.remote_write.headers_file = "h";
          }).find("use https with --remote-write-headers-file") != std::string::npos);
  }

  TEST_CASE("an address of another replica, and callers of an extender without certificates, are looked at") {
    support::temp_folder folder;
    settings s;
    s.cert = s.key = s.agents_ca = s.clients_ca = "x.pem";
    s.policies = folder.path();
    s.state_from = {"binnacle-replicas.binnacle.svc:9102", "10.0.0.7", "[fd00::7]:9102"};
    s.extender_callers = {"scheduler"};
    CHECK(validate(s).has_value());
    s.unsafe = true;
    REQUIRE(validate(s).has_error());
    CHECK(validate(s).error().message.starts_with("--extender-callers and --unsafe"));
    s.unsafe = false;
    for (const char* bad : {"", ":9102", "host:0", "host:x", "host:70000"}) {
      CAPTURE(bad);
      s.state_from = {bad};
      REQUIRE(validate(s).has_error());
      CHECK(validate(s).error().message.starts_with("--state-from"));
    }
  }

  TEST_CASE("model servers need an API server, and addresses that can be meant") {
    settings s;
    s.cert = s.key = s.agents_ca = s.clients_ca = "x.pem";
    s.kube_config = "in-cluster";
    s.model_servers = {"*.models.svc:8080", "mlserver"};
    CHECK(validate(s).has_value());
    for (const std::string bad : {"http://h:1/v2", "*", "h:99999", ""}) {
      CAPTURE(bad);
      s.model_servers = {bad};
      REQUIRE(validate(s).has_error());
      CHECK(validate(s).error().message.starts_with("--model-servers"));
    }
    s.model_servers = {"h"};
    s.kube_config.clear();
    CHECK(validate(s).error().message.find("--kube-config") != std::string::npos);
    s.model_servers.clear();
    s.model_servers_ca = "ca.pem";
    CHECK(validate(s).error().message.starts_with("--model-servers-ca"));
    s.model_servers_ca.clear();
    s.model_servers_secrets = "wao-system";
    CHECK(
        validate(s).error().message.starts_with("--model-servers-secrets is given without --model-servers"));
    s.model_servers = {"h"};
    s.kube_config = "in-cluster";
    CHECK(validate(s).has_value());
    for (const std::string odd : {"a/b", "a.b", "A", "*"}) {
      s.model_servers_secrets = odd;
      CHECK(validate(s).error().message ==
            "--model-servers-secrets: " + odd + " is not a namespace: lower-case letters, digits and '-'");
    }
  }

  TEST_CASE("one port for two things is refused by both names") {
    support::temp_folder folder;
    settings s;
    s.cert = s.key = s.agents_ca = s.clients_ca = "x.pem";
    s.policies = folder.path();
    CHECK(validate(s).has_value());
    s.ops_port = s.extender_port;
    const auto refused = validate(s);
    REQUIRE(refused.has_error());
    CHECK(refused.error().message == "--extender-port and --ops-port are both 9001: give each its own port");
    s.ops_port = s.extender_port = 0;  // any free one
    CHECK(validate(s).has_value());
  }
}

}  // namespace

}  // namespace aggregator_config_test
