#include "aggregator/custom_metrics/negotiate.hpp"

#include <doctest/doctest.h>

#include <string>

namespace negotiate_test {

using namespace binnacle::custom_metrics;

TEST_SUITE("aggregator/custom_metrics/negotiate") {
  TEST_CASE("the Accept headers of real clients get the form they can read") {
    struct row {
      const char* accept;
      form plain, aggregated;
    };
    const std::string v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const std::string v2beta1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
    const std::string both = v2 + "," + v2beta1;                           // kube-aggregator 1.30 to 1.36
    const std::string kubectl = v2 + "," + v2beta1 + ",application/json";  // kubectl's discovery
    const std::string spaced =
        "application/json; as=APIGroupDiscoveryList ; v=v2; g=apidiscovery.k8s.io;profile=nopeer, */*";
    const std::string unknown_first =
        "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList," + v2beta1;
    const row rows[] = {
        {"", form::json, form::json},
        {"application/json, */*", form::json, form::json},                     // kubectl get --raw, TAS
        {"application/vnd.kubernetes.protobuf, */*", form::json, form::json},  // HPA
        {"application/*", form::json, form::json},
        {"application/json;charset=utf-8", form::json, form::json},
        {both.c_str(), form::none, form::discovery_v2},
        {kubectl.c_str(), form::json, form::discovery_v2},
        {v2beta1.c_str(), form::none, form::discovery_v2beta1},
        {spaced.c_str(), form::json, form::discovery_v2},
        {unknown_first.c_str(), form::none, form::discovery_v2beta1},
        {"application/json;as=Table;v=v1;g=meta.k8s.io", form::none, form::none},
        {"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", form::json, form::json},
        {"application/yaml", form::none, form::none},
        {"text/html, application/xml;q=0.9", form::none, form::none},
        {"application/json;q=0", form::none, form::none},
        {"application/json;q=0.1", form::json, form::json},
    };
    for (const row& r : rows) {
      CAPTURE(r.accept);
      const std::string accept = r.accept;
      CHECK(static_cast<int>(negotiate(&accept, false)) == static_cast<int>(r.plain));
      CHECK(static_cast<int>(negotiate(&accept, true)) == static_cast<int>(r.aggregated));
    }
    CHECK(negotiate(nullptr, true) == form::json);
  }

  TEST_CASE("people's tools get indented JSON unless they say otherwise") {
    const std::string curl = "curl/7.88.1", kubectl = "kubectl/v1.32.4", yes = "true", no = "false",
                      zero = "0";
    CHECK(wants_pretty(nullptr, &curl));
    CHECK_FALSE(wants_pretty(nullptr, &kubectl));
    CHECK_FALSE(wants_pretty(nullptr, nullptr));
    CHECK(wants_pretty(&yes, &kubectl));
    CHECK_FALSE(wants_pretty(&no, &curl));
    CHECK_FALSE(wants_pretty(&zero, &curl));
  }
}

}  // namespace negotiate_test
