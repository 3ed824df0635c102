#include "aggregator/model_servers/allowed.hpp"

#include <doctest/doctest.h>

namespace model_servers_allowed_test {

using namespace binnacle;
using model_servers::allowed_servers;

TEST_SUITE("aggregator/model_servers/allowed") {
  TEST_CASE("only servers of the list are allowed, at their port or at any") {
    const auto list =
        allowed_servers::read({"mlserver", "10.0.0.5:8080", "*.models.svc", "*.lab:80", "[::1]:9"});
    REQUIRE(list.has_value());
    CHECK(list->allow("mlserver", 1));
    CHECK(list->allow("10.0.0.5", 8080));
    CHECK_FALSE(list->allow("10.0.0.5", 8081));
    CHECK(list->allow("a.models.svc", 8080));
    CHECK(list->allow("a.b.models.svc", 8080));
    CHECK_FALSE(list->allow("models.svc", 8080));
    CHECK_FALSE(list->allow("evilmodels.svc", 8080));
    CHECK(list->allow("x.lab", 80));
    CHECK_FALSE(list->allow("x.lab", 81));
    CHECK(list->allow("::1", 9));
    CHECK_FALSE(list->allow("mlserver.evil.example", 1));
    CHECK_FALSE(allowed_servers().allow("mlserver", 1));
  }

  TEST_CASE("what names no server is an error that says so") {
    for (const std::string text : {"", "*", "http://mlserver", "a b", "host:99999", "*.", "a*b", "host:0"}) {
      CAPTURE(text);
      CHECK(allowed_servers::read({text}).has_error());
    }
  }
}

}  // namespace model_servers_allowed_test
