#include "aggregator/kube/objects/merge_patch.hpp"

#include <doctest/doctest.h>

namespace merge_patch_test {

namespace {

using namespace binnacle;

TEST_SUITE("aggregator/kube/objects/merge_patch") {
  TEST_CASE("a node's patch has the keys that change and nothing else") {
    const http::call c =
        kube::node_patch("node-1", {{"telemetry.aware.scheduling.p/heat", "high"}, {"old", std::nullopt}},
                         {{"binnacle/labels", "[\"p\"]"}});
    CHECK(c.method == "PATCH");
    CHECK(c.target == "/api/v1/nodes/node-1");
    CHECK(c.headers.front().second == "application/merge-patch+json");
    CHECK(
        c.body ==
        R"({"metadata":{"labels":{"old":null,"telemetry.aware.scheduling.p/heat":"high"},"annotations":{"binnacle/labels":"[\"p\"]"}}})");
    CHECK(kube::node_patch("n", {{"a", ""}}).body == R"({"metadata":{"labels":{"a":""}}})");
  }

  TEST_CASE("a status goes to the status subresource") {
    const http::call c = kube::status_patch("/apis/g/v1/namespaces/a/things/x", R"({"message":"fine"})");
    CHECK(c.target == "/apis/g/v1/namespaces/a/things/x/status");
    CHECK(c.body == R"({"status":{"message":"fine"}})");
  }
}

}  // namespace

}  // namespace merge_patch_test
