#include "aggregator/callers/gatekeeper.hpp"

#include "aggregator/callers/attributes.hpp"
#include "common/token_ration.hpp"
#include "tests/aggregator/callers/shown.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace gatekeeper_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using support::https_client;

/// What an API server says of two tokens: "ann" may read node metrics, "bob" may read nothing.
struct api_server {
  std::atomic<int> reviews{0};
  std::atomic<bool> ill{false};
  std::unique_ptr<support::served> server = std::make_unique<support::served>(routes());

  http::response reviewed(std::string status) {
    ++reviews;
    if (ill) return http::response::json("{}", 500);
    return http::response::json("{\"status\":" + status + "}", 201);
  }
  http::router routes() {
    http::router r;
    r.add("GET", "/api/v1/namespaces/kube-system/configmaps", [](const http::request& q, std::string_view) {
      if (q.parameter("watch") != nullptr) return http::response::json("");
      return http::response::json(
          R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"c","namespace":"kube-system","resourceVersion":"1"}}]})");
    });
    r.add(
        "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
        [this](const http::request&, std::string_view b) {
          for (const std::string who : {"ann", "bob", "root"}) {
            if (b.find("\"token\":\"" + who + '"') == b.npos) continue;
            const std::string groups = who == "root" ? R"(["system:masters"])" : "[]";
            return reviewed(R"({"authenticated":true,"user":{"username":")" + who + R"(","groups":)" +
                            groups + "}}");
          }
          return reviewed(R"({"authenticated":false,"error":"token expired"})");
        },
        1u << 20);
    r.add(
        "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
        [this](const http::request&, std::string_view b) {
          const bool may = b.find("\"user\":\"ann\"") != b.npos && b.find("\"resource\":\"nodes\"") != b.npos;
          return reviewed(may ? R"({"allowed":true})" : R"({"allowed":false})");
        },
        1u << 20);
    return r;
  }
  std::shared_ptr<kube::client> client() const {
    kube::access to;
    to.host = "127.0.0.1";
    to.port = server->port();
    to.secure = false;
    return kube::client::open(std::move(to), logger("test", log_level::off)).value();
  }
};

struct house {
  api_server api;
  http::guard asked;
  std::string caller;  // of the last request that was let in
  std::unique_ptr<callers::gatekeeper> gate;
  support::served face{routes()};

  http::router routes() {
    http::router r;
    r.add_prefix("/", [this](const http::request& q, std::string_view) {
      caller = q.caller;
      return http::response::json("\"in\"");
    });
    r.set_guard([this](const http::request& q, http::guard_answer then) { asked(q, std::move(then)); });
    return r;
  }
  house() {
    face.on_loop([this] {
      gate = std::make_unique<callers::gatekeeper>(face.loop(), api.client(), logger("test", log_level::off),
                                                   30s);
      asked = gate->guard(callers::resource_attributes, [](unsigned status, std::string_view reason,
                                                           std::string_view sentence) {
        return http::response::text(std::string(reason) + ": " + std::string(sentence), status);
      });
      gate->start();
    });
  }
  ~house() {
    face.on_loop([this] { gate.reset(); });  // it must end before the loop does
  }
  https_client client(const std::string& from) const {
    https_client::options o;
    o.port = face.port();
    o.from = from;
    return https_client(std::move(o));
  }
  https_client::answer get(const std::string& token, const std::string& path, const std::string& from = {}) {
    auto c = client(from);
    https_client::header_list headers;
    if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
    return c.get(path, headers);
  }
  callers::gatekeeper_counters counted() {
    callers::gatekeeper_counters out;
    face.on_loop([&] { out = gate->counted(); });
    return out;
  }
};

const std::string power = "/apis/custom.metrics.k8s.io/v1beta2/nodes/*/power";

TEST_SUITE("aggregator/callers/gatekeeper") {
  TEST_CASE_FIXTURE(
      house,
      "a caller with the right is let in; one without it, or who cannot be identified, is told why not") {
    CHECK(get("ann", power).body == "\"in\"");
    CHECK(caller == "ann");
    const auto bob = get("bob", power);
    CHECK(bob.status == 403);
    CHECK(bob.body.find("User \"bob\" cannot get resource \"nodes/power\"") != std::string::npos);
    const auto stranger = get("stranger", power);
    CHECK(stranger.status == 401);
    CHECK(stranger.body.find("token expired") != std::string::npos);
    CHECK(get("", power).status == 401);
    CHECK(get("", "/readyz").status == 200);
    CHECK(get("", "/readyz/ping").status == 401);
    CHECK(counted().let_in == 1);  // health pages need no check
    CHECK(counted().forbidden == 1);
    CHECK(counted().unauthorized == 3);
  }

  TEST_CASE_FIXTURE(house, "discovery needs an identity but no right; system:masters needs no right at all") {
    CHECK(get("bob", "/apis").status == 200);
    CHECK(get("bob", "/openapi/v2").status == 200);
    CHECK(get("", "/apis").status == 401);
    CHECK(api.reviews == 1);
    CHECK(get("root", power).status == 200);
    CHECK(api.reviews == 2);
  }

  TEST_CASE_FIXTURE(house, "what was answered is not asked again, and serves while the API server is ill") {
    CHECK(get("ann", power).status == 200);
    CHECK(get("bob", power).status == 403);
    CHECK(api.reviews == 4);
    api.ill = true;
    CHECK(get("ann", power).status == 200);
    CHECK(get("bob", power).status == 403);
    CHECK(api.reviews == 4);
    CHECK(counted().remembered == 4);
    const auto other = get("stranger", power);
    CHECK(other.status == 503);
    CHECK(other.headers.at("retry-after") == "1");
    CHECK(other.body.find("could not be asked") != std::string::npos);
    CHECK(counted().unavailable == 1);
  }

  TEST_CASE_FIXTURE(
      house, "invented tokens of an address soon get no question; what was answered, and others, go on") {
    CHECK(get("ann", power).status == 200);
    int invented = 0, rationed = 0;
    while (rationed < 5) {
      const auto said = get("invented-" + std::to_string(++invented), power);
      if (said.status == 401) continue;
      REQUIRE(said.status == 429);
      CHECK(said.headers.at("retry-after") == "1");
      CHECK(said.body.find("too many tokens from this address") != std::string::npos);
      ++rationed;
    }
    CHECK(invented >= token_ration::most);
    CHECK(api.reviews == 2 + invented - rationed);
    CHECK(counted().rationed == static_cast<std::uint64_t>(rationed));
    CHECK(get("ann", power).status == 200);  // known already
    CHECK(get("bob", power, "127.0.0.2").status == 403);
  }

  TEST_CASE_FIXTURE(house, "a caller whose verdict is waited for delays no other caller") {
    api.ill = true;
    std::atomic<bool> told{false};
    std::thread slow([&] {
      CHECK(get("stranger", power).status == 503);
      told = true;
    });
    int answered = 0;
    for (; !told; ++answered) CHECK(get("", "/livez").status == 200);
    slow.join();
    CHECK(answered > 1);
    CHECK(counted().unavailable == 1);
  }
}

}  // namespace

}  // namespace gatekeeper_test
