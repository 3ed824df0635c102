#include "aggregator/kube/reviews/reviews.hpp"

#include <doctest/doctest.h>

namespace reviews_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;

http::answer answered(const std::string& status) { return {201, {}, "{\"status\":" + status + "}"}; }

const std::string agent =
    R"({"authenticated":true,"audiences":["binnacle"],"user":{"username":"system:serviceaccount:ops:agent","uid":"7","groups":["system:serviceaccounts"],"extra":{"authentication.kubernetes.io/node-name":["n1"],"x":["a","b"]}}})";

TEST_SUITE("aggregator/kube/reviews") {
  TEST_CASE("a token is asked about with the audiences that it must be for") {
    const auto c = kube::token_review("abc", {"binnacle"});
    CHECK(c.method == "POST");
    CHECK(c.target == "/apis/authentication.k8s.io/v1/tokenreviews");
    CHECK(
        c.body ==
        R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"abc","audiences":["binnacle"]}})");
    CHECK(kube::token_review("abc", {}).body.find("audiences") == std::string::npos);
  }

  TEST_CASE("an authenticated token's holder, groups and extras") {
    const auto v = kube::token_answer_of(answered(agent), {"binnacle"});
    REQUIRE(v.has_value());
    CHECK(v->authenticated);
    CHECK(v->who.name == "system:serviceaccount:ops:agent");
    CHECK(v->who.uid == "7");
    CHECK(v->who.groups == std::vector<std::string>{"system:serviceaccounts"});
    CHECK(v->who.only_extra("authentication.kubernetes.io/node-name") == "n1");
    CHECK(v->who.only_extra("x").empty());
    CHECK(v->who.only_extra("none").empty());
  }

  TEST_CASE("a token counts only if the API server names its holder and it is meant for us") {
    struct row {
      const char* status;
      const char* why;
    };
    for (const row& r : {row{R"({"authenticated":false,"error":"token expired"})", "token expired"},
                         row{R"({"error":"x","user":{"username":"system:admin"}})", "x"},
                         row{R"({"authenticated":"true","user":{"username":"u"}})", ""},
                         row{R"({"authenticated":true,"audiences":["other"],"user":{"username":"u"}})",
                             "not for this server"},
                         row{R"({"authenticated":true,"user":{"username":"u"}})", "not for this server"},
                         row{R"({"authenticated":true,"audiences":["binnacle"]})", "belongs to no user"}}) {
      CAPTURE(r.status);
      const auto v = kube::token_answer_of(answered(r.status), {"binnacle"});
      REQUIRE(v.has_value());
      CHECK_FALSE(v->authenticated);
      CHECK(v->who.name.empty());
      CHECK(v->why.find(r.why) != std::string::npos);
    }
    CHECK(kube::token_answer_of(answered(R"({"authenticated":true,"user":{"username":"u"}})"), {})
              ->authenticated);
  }

  TEST_CASE("a question that was not answered gives no verdict") {
    CHECK(kube::token_answer_of({500, {}, ""}, {}).error().code == errc::io);
    CHECK(kube::token_answer_of({429, {}, ""}, {}).error().code == errc::overloaded);
    CHECK(kube::token_answer_of({403, {}, R"({"kind":"Status","message":"no"})"}, {}).error().code ==
          errc::permission);
    CHECK(kube::token_answer_of({201, {}, "{}"}, {}).error().code == errc::protocol);
    CHECK(kube::access_answer_of({201, {}, "[]"}).error().code == errc::protocol);
  }

  TEST_CASE("a right is asked for with everything that is known of who wants it") {
    kube::access_question q;
    q.who = {"u", "7", {"g"}, {{"k", {"v"}}}};
    q.verb = "get";
    q.group = "custom.metrics.k8s.io";
    q.version = "v1beta2";
    q.resource = "nodes";
    q.subresource = "power";
    q.name = "*";
    const auto c = kube::access_review(q);
    CHECK(c.target == "/apis/authorization.k8s.io/v1/subjectaccessreviews");
    CHECK(
        c.body ==
        R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"u","uid":"7","groups":["g"],"extra":{"k":["v"]},"resourceAttributes":{"verb":"get","namespace":"","group":"custom.metrics.k8s.io","version":"v1beta2","resource":"nodes","subresource":"power","name":"*"}}})");
    q.path = "/metrics";
    CHECK(kube::access_review(q).body.ends_with(
        R"("nonResourceAttributes":{"path":"/metrics","verb":"get"}}})"));
  }

  TEST_CASE("only a plain yes is a yes") {
    CHECK(kube::access_answer_of(answered(R"({"allowed":true,"reason":"RBAC"})"))->allowed);
    CHECK_FALSE(kube::access_answer_of(answered(R"({"allowed":true,"denied":true})"))->allowed);
    CHECK_FALSE(kube::access_answer_of(answered(R"({"allowed":1})"))->allowed);
    CHECK_FALSE(kube::access_answer_of(answered("{}"))->allowed);
    CHECK(kube::access_answer_of(answered(R"({"allowed":false,"evaluationError":"x"})"))->why == "x");
  }

  TEST_CASE("verdicts are remembered for ten seconds, by a digest that is no token") {
    const instant start(1h);
    kube::answer_cache<int> c(4);
    const auto key = [](int i) { return kube::key_of("token " + std::to_string(i)); };
    c.put(key(1), 11, start);
    REQUIRE(c.find(key(1), start + 9s) != nullptr);
    CHECK(*c.find(key(1), start + 9s) == 11);
    CHECK(c.find(key(2), start) == nullptr);
    CHECK(c.find(key(1), start + 10s) == nullptr);
    CHECK(c.size() == 0);
    CHECK(key(1) == key(1));
    CHECK(key(1) != key(2));
  }

  TEST_CASE("a full cache keeps what was asked for last") {
    const instant start(1h);
    kube::answer_cache<int> c(100);
    const auto key = [](int i) { return kube::key_of(std::to_string(i)); };
    for (int i = 0; i < 100; ++i) c.put(key(i), i, start);
    CHECK(c.find(key(3), start) != nullptr);
    for (int i = 100; i < 10'000; ++i) {
      c.put(key(i), i, start);
      CHECK(c.size() <= 100);
      if (i < 140) CHECK(c.find(key(3), start) != nullptr);
      CHECK(c.find(key(i), start) != nullptr);
    }
  }
}

}  // namespace

}  // namespace reviews_test
