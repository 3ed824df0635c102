#include "aggregator/model_servers/reply.hpp"

#include <doctest/doctest.h>

namespace model_reply_test {

using namespace binnacle;
using namespace binnacle::model_servers;

http::answer says(unsigned status, std::string body) {
  http::answer out;
  out.status = status;
  out.body = std::move(body);
  return out;
}

TEST_SUITE("aggregator/model_servers/reply") {
  TEST_CASE("a refusal is quoted, but not that of a server that was given a password") {
    const auto echo = says(500, "headers: Authorization: Basic dTpw");
    CHECK(reply_of(echo, 9, "").said == "it answered 500 \"headers: Authorization: Basic dTpw\"");
    CHECK(reply_of(echo, 9, "ns/s").said == "it answered 500");
    const grpc::answer by_grpc{grpc::status::internal, "Basic dTpw", {}};
    CHECK(reply_of(by_grpc, 9, "").said == "it answered INTERNAL \"Basic dTpw\"");
    CHECK(reply_of(by_grpc, 9, "ns/s").said == "it answered INTERNAL");
  }

  TEST_CASE("a password that a server refuses is said with its Secret") {
    const std::string words =
        ": it does not accept the user name and password of the Secret ns/s, so correct them";
    for (const reply& r : {reply_of(says(401, "u:p"), 1, "ns/s"),
                           reply_of(grpc::answer{grpc::status::unauthenticated, "u:p", {}}, 1, "ns/s")}) {
      CHECK(r.is == reply::verdict::refused);
      CHECK(r.unauthenticated);
      CHECK(r.said.ends_with(words));
    }
    CHECK(reply_of(says(401, "no"), 1, "").said == "it answered 401 \"no\"");
    CHECK_FALSE(reply_of(says(403, "no"), 1, "ns/s").unauthenticated);
    CHECK_FALSE(reply_of(says(200, "{}"), 1, "ns/s").unauthenticated);
  }

  TEST_CASE("a reply that is too large is for too many loads, or else the model's refusal") {
    CHECK(too_large_reply(2, "it is larger").is == reply::verdict::too_many);
    for (const std::size_t count : {0U, 1U}) {
      CHECK(too_large_reply(count, "it is larger").is == reply::verdict::refused);
      CHECK(too_large_reply(count, "it is larger").said == "it is larger");
    }
  }
}

}  // namespace model_reply_test
