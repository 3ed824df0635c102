#include "cli/migrate/migration.hpp"
#include "tests/cli/migrate/wao_manifests.hpp"

#include <doctest/doctest.h>

#include <string>

namespace wao_node_config_test {

using namespace binnacle::cli::migrate;
using namespace binnacle::cli::migrate::test;

TEST_SUITE("cli/migrate/wao_node_config") {
  TEST_CASE("defect: of two NodeConfigs for a node both were said to be read") {
    std::string older = node_config("worker-0", served);
    older.replace(older.find("node.waok8s.github.io"), 21, "wao.bitmedia.co.jp");
    older.replace(older.find("10.0.0.20:"), 9, "10.0.0.21");
    const std::string faulty = node_config("a", "{}");
    for (const auto& text : {node_config("worker-0", served) + older, older + node_config("worker-0", served),
                             older + node_config("worker-0", served) + faulty}) {
      const auto m = of(text);
      CHECK(values(m) == "aggregator:\n  modelServers:\n    - 10.0.0.20:8080\n");
      CHECK(sentence(m, "NodeConfig worker-0 (wao.bitmedia.co.jp/v1beta1)", note::fate::yours) ==
            "NodeConfig wao-system/worker-0 (node.waok8s.github.io) is for the node worker-0, too, and goes "
            "before it: delete one of them");
      CHECK(fates(m).find("works: 1 NodeConfig or") != std::string::npos);
    }
  }

  TEST_CASE("defect: an endpoint whose scheme has capitals was said to be no URL") {
    const auto m = of(node_config(
        "a",
        R"({powerConsumption: {type: V2InferenceProtocol, endpoint: "HTTP://Models.Example/v2/models/m"}})"));
    CHECK(values(m) == "aggregator:\n  modelServers:\n    - Models.Example:80\n");
    CHECK(fates(m).find("yours: NodeConfig") == std::string::npos);
  }

  TEST_CASE("defect: a NodeConfig without a node, or whose Secret is not read, was said to be read") {
    const auto guarded = [](const std::string& name) { return node_config(name, guarded_by("pc")); };
    std::string of_none = node_config("none", served), elsewhere = guarded("b");
    of_none.replace(of_none.find("nodeName: none"), 14, "nodeName: \"\"");
    elsewhere.replace(elsewhere.find("wao-system"), 10, "team");
    const auto m = of(guarded("a") + elsewhere + of_none);
    CHECK(sentence(m, "NodeConfig none", note::fate::yours) ==
          "names no node, so that it does nothing: write spec.nodeName, or delete it");
    CHECK_MESSAGE(values(m).find("10.0.0.20") == std::string::npos, "nobody asks its server");
    CHECK(sentence(m, "NodeConfig b", note::fate::yours).find("its Secret team/pc is not read") !=
          std::string::npos);
    CHECK(sentence(m, "1 NodeConfig or NodeConfigTemplate object", note::fate::works).size() > 0);
    const auto templated = [](const std::string& secret) {
      return node_config_template(guarded_by(secret), "team");
    };
    for (const char* secret : {"pc", "of-{{.Hostname}}"})
      CHECK_MESSAGE(
          fates(of(guarded("a") + templated(secret))).find("works: 1 NodeConfig or") != std::string::npos,
          secret);
  }

  TEST_CASE("what Binnacle does not ask is said of each object, with the way out") {
    const auto m = of(
        node_config("a", R"({powerConsumptionEndpointProvider: {type: Fake, endpoint: ""}})") +
        node_config(
            "b",
            R"({powerConsumption: {type: V2InferenceProtocol, endpoint: "http://h/v2/models/m", basicAuthSecret: {name: s}}})") +
        node_config("c",
                    R"({powerConsumption: {type: V2InferenceProtocol, endpoint: "https://h/v2/models/m"}})"));
    CHECK(sentence(m, "NodeConfig a", note::fate::yours).find("and only Redfish is asked") !=
          std::string::npos);
    CHECK(sentence(m, "NodeConfig b", note::fate::yours).find("use https or grpcs") != std::string::npos);
    CHECK(sentence(m, "NodeConfig c", note::fate::yours).find("aggregator.modelServersCa") !=
          std::string::npos);
    CHECK(values(m).find("h:443") != std::string::npos);
  }
}

}  // namespace wao_node_config_test
