#include "cli/bridge/replicas.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace bridge_replicas_test {

using namespace binnacle;
using namespace binnacle::cli::bridge;
using words = std::vector<std::string>;

namespace {

/// Output of `kubectl get services,pods -o json`: the chart's objects, and a pod of another release.
const char* const objects = R"({"kind":"List","items":[
  {"kind":"Service","metadata":{"name":"binnacle-replicas"},"spec":{"ports":[{"name":"ingest","port":9110}],"selector":{"a":"1"}}},
  {"kind":"Service","metadata":{"name":"binnacle"},"spec":{"ports":[{"name":"extender","port":9001},{"name":"ops","port":9102}],
   "selector":{"app.kubernetes.io/instance":"binnacle","app.kubernetes.io/component":"aggregator"}}},
  {"kind":"Pod","metadata":{"name":"binnacle-b","labels":{"app.kubernetes.io/instance":"binnacle","app.kubernetes.io/component":"aggregator","x":"y"}},
   "status":{"phase":"Running"}},
  {"kind":"Pod","metadata":{"name":"binnacle-a","labels":{"app.kubernetes.io/instance":"binnacle","app.kubernetes.io/component":"aggregator"}},
   "status":{"phase":"Running"}},
  {"kind":"Pod","metadata":{"name":"binnacle-c","deletionTimestamp":"2026-01-01T00:00:00Z",
   "labels":{"app.kubernetes.io/instance":"binnacle","app.kubernetes.io/component":"aggregator"}},"status":{"phase":"Running"}},
  {"kind":"Pod","metadata":{"name":"binnacle-d","labels":{"app.kubernetes.io/instance":"binnacle","app.kubernetes.io/component":"aggregator"}},
   "status":{"phase":"Pending"}},
  {"kind":"Pod","metadata":{"name":"other-e","labels":{"app.kubernetes.io/instance":"other","app.kubernetes.io/component":"aggregator"}},
   "status":{"phase":"Running"}}]})";

}  // namespace

TEST_SUITE("cli/bridge/replicas") {
  TEST_CASE("the Service with the ops port leads to its pods that run") {
    const auto found = replicas_in(objects, "binnacle");
    REQUIRE(found.has_value());
    CHECK(found->service == "binnacle");
    CHECK(found->pods == words{"binnacle-a", "binnacle-b"});
  }

  TEST_CASE("what is missing is said with what to do") {
    const auto error_of = [](const char* list) { return replicas_in(list, "ops").error().message; };
    CHECK(error_of("") == "kubectl get services,pods -o json gave no JSON");
    for (const char* none :
         {"{}", "[]", R"({"items":[1,{"kind":"Service"},{"kind":"Service","spec":{"ports":[2]}}]})"})
      CHECK(error_of(none) ==
            "namespace ops has no Service of Binnacle's chart: --kube-namespace names another one");
    CHECK(
        error_of(
            R"({"items":[{"kind":"Service","metadata":{"name":"b"},"spec":{"ports":[{"name":"ops","port":1}]}},
                       {"kind":"Pod","metadata":{"name":"p"},"status":{"phase":"Running"}}]})")
            .starts_with("no pod of Service b in namespace ops runs"));
  }

  TEST_CASE("the CA is that of the APIService that leads to the chart's Service") {
    const auto authority = [](const char* service, const char* bundle) {
      const auto found = authority_in(
          fmt::format(R"({{"spec":{{"service":{{"name":"{}","namespace":"ops"}},"caBundle":{}}}}})", service,
                      bundle),
          "binnacle", "ops");
      REQUIRE(found.has_value());
      return *found;
    };
    CHECK(authority("binnacle", R"("UEVN")") == "PEM");
    CHECK(authority("prometheus-adapter", R"("UEVN")").empty());
    for (const char* none : {"null", "1", R"("")", R"("?")"}) CHECK(authority("binnacle", none).empty());
    for (const char* odd : {"", "{}", "[]", R"({"spec":{"service":null}})"}) {
      const auto found = authority_in(odd, "binnacle", "ops");
      REQUIRE(found.has_value());
      CHECK(found->empty());
    }
  }

  TEST_CASE("the chart's own APIService that leads to another Service says where the chart is") {
    const char* const charts = R"({"metadata":{"labels":{"app.kubernetes.io/name":"binnacle"}},
      "spec":{"service":{"name":"x","namespace":"telemetry"},"caBundle":"UEVN"}})";
    const auto found = authority_in(charts, "x", "telemetry");
    REQUIRE(found.has_value());
    CHECK(*found == "PEM");
    const auto elsewhere = authority_in(charts, "binnacle", "ops");
    REQUIRE(elsewhere.has_error());
    CHECK(elsewhere.error().message ==
          "the APIService of Binnacle's chart leads to Service x in namespace telemetry, not to binnacle in "
          "ops: give --kube-namespace telemetry, or the CA of the aggregator's certificate with --ca");
    const auto beside = authority_in(charts, "binnacle", "telemetry");
    REQUIRE(beside.has_error());
    CHECK(beside.error().message ==
          "the APIService of Binnacle's chart leads to Service x in namespace telemetry, not to binnacle in "
          "telemetry: give the CA of the aggregator's certificate with --ca");
  }

  TEST_CASE("a Secret has a CA, and perhaps a certificate with its key") {
    const auto whole = pem_in_secret(R"({"data":{"ca.crt":"UEVN","tls.crt":"Q1JU","tls.key":"S0VZ"}})", "s");
    REQUIRE(whole.has_value());
    CHECK(whole->authority == "PEM");
    CHECK(whole->certificate == "CRT");
    CHECK(whole->key == "KEY");
    for (const char* half : {R"({"data":{"ca.crt":"UEVN","tls.crt":"Q1JU"}})",
                             R"({"data":{"ca.crt":"UEVN","tls.crt":"","tls.key":"S0VZ"}})"}) {
      const auto found = pem_in_secret(half, "s");
      REQUIRE(found.has_value());
      CHECK(found->authority == "PEM");
      CHECK(found->certificate.empty());
      CHECK(found->key.empty());
    }
    for (const char* none : {"", "{}", "[]", R"({"data":{"tls.crt":"Q1JU","tls.key":"S0VZ"}})"}) {
      const auto found = pem_in_secret(none, "s");
      REQUIRE(found.has_error());
      CHECK(found.error().message ==
            "Secret s has no ca.crt: give the CA of the aggregator's certificate with --ca");
    }
  }

  TEST_CASE("kubectl says which port it took") {
    CHECK(forwarded_port("Forwarding from 127.0.0.1:40123 -> 9102") == 40123);
    for (const char* line : {"", "Forwarding from [::1]:40123 -> 9102", "Forwarding from 127.0.0.1: -> 9102",
                             "Forwarding from 127.0.0.1:65536 -> 1", "Handling connection for 40123"})
      CHECK_FALSE(forwarded_port(line).has_value());
  }

  TEST_CASE("kubectl's log lines are left out of what it says") {
    CHECK(words_of("E1124 12:23:14.489897   11062 memcache.go:265] \"Unhandled Error\"\n\nThe connection to "
                   "the server "
                   "a was refused\n") == "The connection to the server a was refused");
    CHECK(words_of("Error one\nError two") == "Error one; Error two");
    CHECK(words_of("E112x no log") == "E112x no log");
    CHECK(words_of("a\x1b[2Jb") == "a?[2Jb");
    CHECK(words_of("").empty());
  }

  TEST_CASE("a forward stays with its pod, else goes to one that no other leads to") {
    CHECK(next_pod("a", {"a", "b"}, {"b"}) == "a");
    CHECK(next_pod("a", {"b", "c"}, {"b"}) == "c");
    CHECK(next_pod("a", {"b"}, {"b"}) == "b");
    CHECK(next_pod("a", {}, {}).empty());
  }
}

}  // namespace bridge_replicas_test
