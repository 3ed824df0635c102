#include "aggregator/callers/layer.hpp"

#include "tests/support/net/pki.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

namespace layer_test {

namespace {

using namespace binnacle;
namespace json = boost::json;

struct fixture {
  support::temp_folder dir;
  support::authority ca{dir, "ca"};
  callers::layer_object kept;
  const kube::object_key key{"kube-system", "extension-apiserver-authentication"};

  std::string pem() const {
    std::ifstream in(ca.certificate());
    return {std::istreambuf_iterator<char>(in), {}};
  }
  json::object config_map(json::object data) const {
    json::object out;
    out["data"] = std::move(data);
    return out;
  }
  json::object usual() const {
    json::object data;
    data["client-ca-file"] = pem();
    data["requestheader-client-ca-file"] = pem() + pem();
    data["requestheader-allowed-names"] = R"(["front-proxy-client"])";
    data["requestheader-username-headers"] = R"(["X-Remote-User"])";
    data["requestheader-group-headers"] = R"(["X-Remote-Group"])";
    data["requestheader-extra-headers-prefix"] = R"(["X-Remote-Extra-"])";
    return data;
  }
};

TEST_SUITE("aggregator/callers/layer") {
  TEST_CASE_FIXTURE(fixture, "the ConfigMap of a usual cluster") {
    const auto read = callers::read_layer(config_map(usual()));
    REQUIRE(read.has_value());
    CHECK(read->clients != nullptr);
    CHECK(read->front_proxy != nullptr);
    CHECK(read->proxy_names == std::vector<std::string>{"front-proxy-client"});
    CHECK(read->user_headers == std::vector<std::string>{"x-remote-user"});
    CHECK(read->group_headers == std::vector<std::string>{"x-remote-group"});
    CHECK(read->extra_prefixes == std::vector<std::string>{"x-remote-extra-"});
    CHECK(read->uid_headers.empty());  // Kubernetes before 1.32
  }

  TEST_CASE_FIXTURE(fixture, "a managed cluster may leave out any key; nobody is then accepted by that key") {
    const auto read = callers::read_layer(config_map({}));
    REQUIRE(read.has_value());
    CHECK(read->clients == nullptr);
    CHECK(read->front_proxy == nullptr);
    CHECK(callers::read_layer(json::object()).has_value());
  }

  TEST_CASE_FIXTURE(fixture, "a broken key is named and leaves the last good version in force") {
    kept.changed(key, config_map(usual()));
    REQUIRE(kept.current() != nullptr);
    CHECK(kept.trouble().empty());
    struct row {
      const char* key;
      std::string text;
    };
    for (const row& r : {row{"client-ca-file", "no PEM"},
                         row{"requestheader-client-ca-file", "-----BEGIN CERTIFICATE-----\nxx\n"},
                         row{"requestheader-allowed-names", "front-proxy-client"},
                         row{"requestheader-group-headers", R"([1])"}}) {
      CAPTURE(r.key);
      json::object data = usual();
      data[r.key] = r.text;
      kept.changed(key, config_map(data));
      REQUIRE(kept.current() != nullptr);
      CHECK(kept.current()->user_headers.size() == 1);
      CHECK(kept.trouble().find(r.key) != std::string::npos);
      CHECK(kept.trouble().find("stays in force") != std::string::npos);
    }
    kept.changed(key, config_map(usual()));
    CHECK(kept.trouble().empty());
  }

  TEST_CASE_FIXTURE(fixture,
                    "a cluster without it is said once the list has come; a deletion locks nobody out") {
    CHECK(kept.trouble().empty());
    kept.synced();
    CHECK(kept.trouble().find("requestheader-client-ca-file") != std::string::npos);
    CHECK(kept.current() == nullptr);
    kept.changed(key, config_map(usual()));
    CHECK(kept.trouble().empty());
    kept.gone(key);
    CHECK(kept.current() != nullptr);
    CHECK_FALSE(kept.trouble().empty());
  }
}

}  // namespace

}  // namespace layer_test
