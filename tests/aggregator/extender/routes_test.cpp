// The extender behind the real server, over TLS.
#include "tests/aggregator/extender/fleet.hpp"
#include "tests/aggregator/extender/go_args.hpp"
#include "tests/support/net/https_client.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/net/served.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

namespace routes_test {

using namespace binnacle;
using namespace binnacle::test;

namespace {

struct extender_server {
  explicit extender_server(fleet& f) : ca(dir, "cluster") {
    tls::options secured;
    secured.side = tls::role::server;
    secured.pem = ca.issue_server();
    http::server_options options;
    options.tls = tls::context::load(secured).value();
    http::router routes;
    f.face().routes(routes);
    server = std::make_unique<support::served>(std::move(routes), options);
  }
  support::https_client client() {
    support::https_client::options to;
    to.port = server->port();
    support::wanted scheduler;
    scheduler.common_name = "kube-scheduler";
    to.pem = ca.issue("client", scheduler);
    return support::https_client(to);
  }
  support::temp_folder dir;
  support::authority ca;
  std::unique_ptr<support::served> server;
};

const support::https_client::header_list as_json{{"Content-Type", "application/json"}};

}  // namespace

TEST_SUITE("aggregator/extender/routes") {
  TEST_CASE("all verbs over one TLS connection, large bodies in and out, other methods 405") {
    fleet f;
    policy::policy p;
    p.key = {"default", "power"};
    p.strategies.push_back(fleet::dontschedule({fleet::rule("watts", policy::comparison::greater_than, 60)}));
    p.strategies.push_back(fleet::scheduleonmetric(fleet::rule("watts", policy::comparison::less_than, 0)));
    f.publish(p);
    std::vector<std::string> names, nodes;
    for (int i = 0; i < 300; ++i) {
      names.push_back(fmt::format("node-{}", i));
      nodes.push_back(node_json(names.back(), 30));
      f.value(names.back(), "watts", {i % 3 == 0 ? 90 : 50, 0});
    }
    extender_server server(f);
    auto client = server.client();

    const auto by_name = client.post("/scheduler/filter", names_args(pod_json("p", "power"), names), as_json);
    CHECK(by_name.status == 200);
    CHECK(by_name.headers.at("content-type") == "application/json");
    CHECK(by_name.headers.at("binnacle-decision") == "1");
    CHECK(boost::json::parse(by_name.body).at("NodeNames").as_array().size() == 200);

    const auto full = client.post("/scheduler/filter", nodes_args(pod_json("p", "power"), nodes), as_json);
    CHECK(full.status == 200);
    CHECK(boost::json::parse(full.body).at("Nodes").at("items").as_array().size() == 200);

    CHECK(boost::json::parse(
              client.post("/scheduler/prioritize", names_args(pod_json("p", "power"), names), as_json).body)
              .as_array()
              .size() == 300);
    const auto full_nodes = client.post(
        "/scheduler/preempt",
        meta_victims_args(pod_json("p", "power"), {{"node-0", {"v"}}, {"node-1", {"w"}}}), as_json);
    CHECK(full_nodes.status == 200);
    CHECK(boost::json::parse(full_nodes.body).at("NodeNameToMetaVictims").as_object().size() == 1);
    CHECK(client.get("/scheduler/filter").status == 405);
    CHECK(client.get("/scheduler/preempt").status == 405);
    CHECK(client.connections() == 1);

    CHECK(client.post("/scheduler/filter", "{]", as_json).status == 400);
    CHECK(client.post("/scheduler/filter", "", as_json).status == 400);
    CHECK(client.post("/scheduler/filter", "{}", {{"Content-Type", "text/plain"}}).status == 415);
    CHECK(client.post("/scheduler/preempt", "{}", {{"Content-Type", "text/plain"}}).status == 415);
    CHECK(client.post("/scheduler/bind", "{}", as_json).status == 404);
    CHECK(client.post("/scheduler/filter", names_args(pod_json("p", "power"), names), as_json).status == 200);
  }
}

}  // namespace routes_test
