#include "tests/support/net/served.hpp"

#include "aggregator/custom_metrics/face.hpp"
#include "aggregator/questions/store_question.hpp"
#include "tests/aggregator/store/nodes.hpp"
#include "tests/support/net/https_client.hpp"
#include "tests/support/net/pki.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace served_test {

using namespace binnacle;
using namespace binnacle::custom_metrics;
using support::https_client;

namespace {

/// The API as the aggregator serves it, on a TLS port that asks for certificates, with two nodes.
struct house {
  support::temp_folder dir;
  support::authority ca{dir, "clients"};
  tls::files server_files = ca.issue_server();
  tls::files hpa =
      ca.issue("hpa", {.common_name = "system:serviceaccount:hpa", .extended_key_usage = "clientAuth"});
  store::view nodes;
  questions::watched_columns windows{[](const auto&, const auto&) {}, [](auto) {}};
  std::unique_ptr<face> tested;
  std::unique_ptr<support::served> server;

  house() {
    for (const char* name : {"n1", "n2"}) {
      const wire::catalog c = store::two_packages();
      auto cells =
          std::make_shared<store::row>(std::make_shared<const store::shape>(store::make_shape(c, {})->what));
      for (std::size_t i = 0; i < c.series.size(); ++i)
        cells->set_value(i, static_cast<std::int64_t>(100 * i + 5));
      cells->set_read(0, boot_clock::now());
      nodes.apply({.id = store::node_id{static_cast<std::uint32_t>(nodes.nodes().size())},
                   .name = name,
                   .cells = cells});
    }
    face_sources sources;
    sources.ask = questions::ask_store(windows);
    sources.health.add("ping", [] { return true; });
    tested = std::make_unique<face>(nodes, std::move(sources));
    http::router routes;
    tested->mount(routes);
    tls::options o;
    o.pem = server_files;
    o.clients = tls::client_certificate::optional;
    o.alpn = "http/1.1";
    http::server_options s;
    s.tls = tls::context::load(std::move(o)).value();
    server = std::make_unique<support::served>(std::move(routes), std::move(s));
  }

  https_client client(tls::files pem) const {
    https_client::options o;
    o.port = server->port();
    o.pem = std::move(pem);
    return https_client(std::move(o));
  }
};

const std::string base = "/apis/custom.metrics.k8s.io/v1beta2";

}  // namespace

TEST_SUITE("aggregator/custom_metrics/served") {
  TEST_CASE_FIXTURE(house, "a scripted kubectl and autoscaler get their answers over one connection") {
    auto c = client(hpa);
    const auto raw = c.get(base + "/nodes/%2A/rapl_power_watts",
                           {{"Accept", "application/json, */*"}, {"Accept-Encoding", "gzip"}});
    CHECK(raw.status == 200);
    CHECK(raw.headers.at("content-type") == "application/json");
    CHECK(raw.headers.at("content-length") == std::to_string(raw.body.size()));
    CHECK(raw.body.find(R"("name":"n1")") != std::string::npos);
    CHECK(raw.body.find(R"("name":"n2")") != std::string::npos);

    const auto one = c.get(base + "/nodes/n2/rapl_power_watts?metricLabelSelector=package%3D1",
                           {{"Accept", "application/vnd.kubernetes.protobuf, */*"}});
    CHECK(one.status == 200);
    CHECK(one.body.find(R"("value":"10500m")") != std::string::npos);

    const auto head = c.request("HEAD", base + "/nodes/n2/rapl_power_watts");
    CHECK(head.status == 200);
    CHECK(head.body.empty());
    CHECK(c.request("DELETE", base + "/nodes/n2/rapl_power_watts").status == 405);
    CHECK(c.post(base + "/nodes/n2/rapl_power_watts", "").status == 405);
    CHECK(c.get(base + "/nodes/n3/rapl_power_watts").status == 404);
    CHECK(c.connections() == 1);
  }

  TEST_CASE_FIXTURE(house, "what the server itself refuses is a Status, too") {
    auto c = client(hpa);
    const auto is_status = [](const https_client::answer& a, unsigned code) {
      return a.status == code && a.body.starts_with(R"({"kind":"Status",)") &&
             a.body.find("\"code\":" + std::to_string(code)) != std::string::npos;
    };
    CHECK(is_status(c.get(base + "/nodes/%00/rapl_power_watts"), 400));
    c.connect();
    for (const std::size_t size : {2u, 1u << 20}) {  // the body is not read, and the connection ends
      CHECK(is_status(c.post(base + "/nodes/n2/rapl_power_watts", std::string(size, 'x')), 405));
      c.connect();
    }
    CHECK(is_status(c.get(base, {{"X", std::string(70'000, 'x')}}), 431));
  }

  TEST_CASE_FIXTURE(
      house, "the aggregation layer's discovery is answered, five probes at a time, and then not again") {
    const std::string v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    auto c = client(hpa);
    const auto fresh = c.get(
        "/apis",
        {{"Accept", v2 + ",application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"}});
    CHECK(fresh.status == 200);
    CHECK(fresh.headers.at("content-type") == v2);
    const auto again = c.get("/apis", {{"Accept", v2}, {"If-None-Match", fresh.headers.at("etag")}});
    CHECK(again.status == 304);
    CHECK(again.body.empty());
    const auto openapi = c.get("/openapi/v3");
    CHECK(openapi.status == 200);
    CHECK(c.get("/openapi/v3", {{"If-None-Match", openapi.headers.at("etag")}}).status == 304);
    for (int i = 0; i < 5; ++i) CHECK(client(hpa).get(base).status == 200);
  }

  TEST_CASE_FIXTURE(house,
                    "a caller without a certificate gets health and a Status that says what is missing") {
    tls::files nobody;
    nobody.authority = ca.certificate();
    auto c = client(nobody);
    CHECK(c.get("/livez").body == "ok");
    const auto refused = c.get(base + "/nodes/n1/rapl_power_watts",
                               {{"X-Remote-User", "admin"}, {"X-Remote-Group", "system:masters"}});
    CHECK(refused.status == 401);
    CHECK(refused.body.find(R"("reason":"Unauthorized")") != std::string::npos);
  }
}

}  // namespace served_test
