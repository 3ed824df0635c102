#include "aggregator/kube/refusal.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <string>

namespace refusal_test {

using namespace binnacle;
using namespace binnacle::kube;
using namespace std::chrono_literals;

namespace {

http::answer answered(unsigned status, std::string body) {
  http::answer a;
  a.status = status;
  a.body = std::move(body);
  return a;
}

TEST_SUITE("aggregator/kube/refusal") {
  TEST_CASE("a 2xx is no refusal") { CHECK_FALSE(refusal_of(answered(201, "{}")).has_value()); }

  TEST_CASE("a Status says why, and how long to wait") {
    const auto r = refusal_of(answered(
        429,
        R"({"kind":"Status","code":500,"reason":"TooManyRequests","message":"later","details":{"retryAfterSeconds":7}})"));
    REQUIRE(r.has_value());
    CHECK(r->status == 429);  // the status of the answer itself
    CHECK(r->reason == "TooManyRequests");
    CHECK(r->message == "later");
    CHECK(r->retry_after == 7s);
    CHECK(r->as_error("reading Node objects").code == errc::overloaded);
    CHECK(r->as_error("reading Node objects").message ==
          "reading Node objects: the API server answered 429: later");
  }

  TEST_CASE("a server asks for five minutes at most") {
    const auto status = boost::json::parse(R"({"details":{"retryAfterSeconds":86400}})").as_object();
    CHECK(refusal_of(status).retry_after == 5min);
    CHECK(refusal_of(status).status == 500);  // a watch's ERROR event without a code
  }

  TEST_CASE("what is not a Status is repeated without its control characters, and cut") {
    const auto r = refusal_of(answered(502, "bad\r\n\x1b[31mgateway" + std::string(1000, 'x')));
    REQUIRE(r.has_value());
    CHECK(r->message.size() == 500);
    CHECK(r->message.starts_with("bad   [31mgateway"));
  }

  TEST_CASE("a version that is compacted, or not known yet, is told from every other refusal") {
    CHECK(refusal_of(answered(410, ""))->expired());
    CHECK_FALSE(refusal_of(answered(404, ""))->expired());
    const auto ahead = refusal_of(
        answered(504, R"({"kind":"Status","message":"Timeout: Too large resource version: 9, current: 7"})"));
    CHECK(ahead->from_the_future());
    CHECK_FALSE(refusal_of(answered(504, "gateway timeout"))->from_the_future());
  }

  TEST_CASE("a right that is missing names its remedy") {
    const error e = refusal_of(answered(403, ""))->as_error("patching Node n1");
    CHECK(e.code == errc::permission);
    CHECK(e.message.find("grant it with a ClusterRole") != std::string::npos);
  }
}

}  // namespace

}  // namespace refusal_test
