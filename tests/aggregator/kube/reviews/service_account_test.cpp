#include "aggregator/kube/reviews/service_account.hpp"

#include <doctest/doctest.h>

namespace binnacle::service_account_test {

using namespace kube;

TEST_SUITE("aggregator/kube/reviews/service_account") {
  TEST_CASE("a service account's user names its namespace, and no other user does") {
    CHECK(user_of_service_account("ops", "agent") == "system:serviceaccount:ops:agent");
    CHECK(namespace_of_service_account("system:serviceaccount:ops:agent") == "ops");
    for (const char* other : {"", "ops", "system:node:n1", "system:serviceaccount:",
                              "system:serviceaccount:ops", "x:serviceaccount:ops:agent"}) {
      CAPTURE(other);
      CHECK(namespace_of_service_account(other).empty());
    }
  }
}

}  // namespace binnacle::service_account_test
