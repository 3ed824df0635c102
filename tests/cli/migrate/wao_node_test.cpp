#include "cli/migrate/migration.hpp"
#include "tests/cli/migrate/wao_manifests.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

namespace wao_node_test {

using namespace binnacle::cli::migrate;
using namespace binnacle::cli::migrate::test;

TEST_SUITE("cli/migrate/wao_node") {
  TEST_CASE("labels of WAO's first version name a server of TensorFlow Serving, once for all nodes") {
    const auto node = [](const std::string& name, const std::string& more) {
      return fmt::format(R"(
kind: Node
metadata:
  name: {}
  labels: {{tensorflow/host: tensorflow-service, tensorflow/port: "8500", tensorflow/name: konohana, tensorflow/version: "101",
            tensorflow/signature: konohana, ambient/min: "10", ambient/max: "40", cpu1/min: "20", cpu1/max: "90", cpu2/min: "20"{}}}
---
)",
                         name, more);
    };
    const auto m = of(node("a", ", cpu2/max: \"90\"") + node("b", ", cpu2/max: \"90\"") +
                      node("c", ", cpu2/max: \"20\"") + "kind: Node\nmetadata: {name: plain}\n");
    CHECK(values(m) == "aggregator:\n  modelServers:\n    - tensorflow-service:8500\n");
    CHECK(fates(m) == R"(carried: Node a
yours: Node c
works: labels of 2 nodes
yours: TASPolicy fewer-watts
)");
    CHECK(sentence(m, "labels of 2 nodes", note::fate::works).find("asked by gRPC as before") !=
          std::string::npos);
    CHECK_MESSAGE(
        fates(of(node("a", ", cpu2/max: \"90\""))).find("works: labels of 1 node\n") != std::string::npos,
        "defect: of 1 nodes");
    std::string rest = node("a", ", cpu2/max: \"90\"");
    rest.replace(rest.find("8500"), 4, "8501");
    CHECK(sentence(of(rest), "Node a", note::fate::yours).find("--rest_api_port=8501") != std::string::npos);
    CHECK(sentence(m, "Node c", note::fate::yours).find("cpu2/min and cpu2/max are equal") !=
          std::string::npos);
    std::string unread = node("a", ", cpu2/max: \"90\"");
    unread.replace(unread.find("\"101\""), 5, "v1101");
    CHECK(sentence(of(unread), "Node a", note::fate::yours).find("tensorflow/version is \"v1101\"") !=
          std::string::npos);
  }

  TEST_CASE("defect: of labels with a wrong span the server was not allowed, and no other fault was said") {
    const auto node = [](const std::string& labels) {
      return of(
          "kind: Node\nmetadata:\n  name: a\n  labels: {tensorflow/host: models, tensorflow/port: "
          "\"8500\", " +
          labels + "}\n");
    };
    const auto m = node(
        R"(tensorflow/name: pc, tensorflow/version: v7, ambient/min: "20", ambient/max: "20", cpu1/min: "1")");
    CHECK(values(m) == "aggregator:\n  modelServers:\n    - models:8500\n");
    std::string said;
    for (const note& n : m.notes) said += n.what == note::fate::yours ? n.sentence + "\n" : "";
    for (const char* part : {"ambient/min and ambient/max are equal", "cpu1/max is missing",
                             "cpu2/min is missing", "tensorflow/version is \"v7\""})
      CHECK_MESSAGE(said.find(part) != said.npos, said);
    CHECK_MESSAGE(fates(m).find("works") == std::string::npos, "it is not read as it is");
    CHECK_MESSAGE(node("ambient/min: \"20\"").values.size() == 0, "without a name there is no model to ask");
  }
}

}  // namespace wao_node_test
