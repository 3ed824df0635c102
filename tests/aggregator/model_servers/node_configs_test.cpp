#include "aggregator/model_servers/node_configs.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

namespace node_configs_test {

using namespace binnacle;
using namespace binnacle::model_servers;

boost::json::object object_of(const std::string& node, const std::string& predictor) {
  return boost::json::parse(fmt::format(
                                R"({{"spec":{{"nodeName":"{}","metricsCollector":{{
        "inletTemp":{{"type":"Redfish","endpoint":"https://10.0.0.100","basicAuthSecret":{{"name":"r"}},"fetchInterval":"10s"}},
        "deltaP":{{"type":"Fake","endpoint":""}}}},"predictor":{}}}}})",
                                node, predictor))
      .as_object();
}

const std::string v2 =
    R"({"powerConsumption":{"type":"V2InferenceProtocol","endpoint":"http://10.0.0.20:8080/v2/models/PC-R650/versions/v0.1.0/infer"}})";

node_configs::found read(const std::string& predictor) {
  const auto o = object_of("worker-0", predictor);
  return read_node_config({"wao-system", "w0"}, o.at("spec").as_object());
}

TEST_SUITE("aggregator/model_servers/node_configs") {
  TEST_CASE("a NodeConfig as WAO documents it names the node's model") {
    const auto f = read(v2);
    CHECK(f.object == "NodeConfig wao-system/w0");
    REQUIRE(f.model.has_value());
    CHECK(f.model->model.text() == "http://10.0.0.20:8080/v2/models/PC-R650/versions/v0.1.0/infer");
    CHECK_FALSE(f.model->inlet);
    CHECK_MESSAGE(*f.model->pressure == 7.5, "what WAO's collector of type Fake says");
  }

  TEST_CASE("what is not followed is said in words") {
    const auto why = [](const std::string& predictor) {
      const auto f = read(predictor);
      REQUIRE(f.model.has_error());
      return f.model.error().message;
    };
    CHECK(why("{}").find("no predictor.powerConsumption") != std::string::npos);
    CHECK(why(R"({"powerConsumption":{"type":"Fake","endpoint":""}})").find("of type \"Fake\"") !=
          std::string::npos);
    CHECK(why(R"({"powerConsumption":{"type":"TFServing","endpoint":""}})").find("V2InferenceProtocol") !=
          std::string::npos);
    CHECK(why(R"({"powerConsumption":{"type":"V2InferenceProtocol","endpoint":"10.0.0.1"}})").find("URL") !=
          std::string::npos);
    CHECK(
        why(R"({"powerConsumption":{"type":"V2InferenceProtocol","endpoint":"http://h/v2/models/m","basicAuthSecret":{"name":"s"}}})")
            .find("Secrets are not read") != std::string::npos);
    CHECK(why(R"({"powerConsumptionEndpointProvider":{"type":"Redfish","endpoint":"https://10.0.0.100"}})")
              .find("powerConsumptionEndpointProvider is not asked") != std::string::npos);
  }

  TEST_CASE("of two NodeConfigs for a node the first by name counts, and the other when it is gone") {
    node_configs all;
    auto& group = all.of_group(0);
    const auto model = [](const std::string& name) {
      return object_of(
          "n", R"({"powerConsumption":{"type":"V2InferenceProtocol","endpoint":"http://h/v2/models/)" + name +
                   R"("}})");
    };
    const auto now = [&] { return all.find("n") == nullptr ? "" : all.find("n")->model->model.path; };
    group.changed({"wao-system", "b"}, model("b"));
    CHECK(now() == "/v2/models/b/infer");
    group.changed({"wao-system", "a"}, model("a"));
    CHECK(now() == "/v2/models/a/infer");
    group.changed({"wao-system", "a"}, model("a2"));
    CHECK(now() == "/v2/models/a2/infer");
    group.gone({"wao-system", "a"});
    CHECK(now() == "/v2/models/b/infer");
    group.gone({"wao-system", "b"});
    CHECK(all.find("n") == nullptr);
    CHECK(all.size() == 0);
  }

  TEST_CASE("an object that moves to another node leaves the first one") {
    node_configs all;
    auto& group = all.of_group(0);
    group.changed({"ns", "a"}, object_of("one", v2));
    group.changed({"ns", "a"}, object_of("two", v2));
    CHECK(all.find("one") == nullptr);
    CHECK(all.find("two") != nullptr);
    group.changed({"ns", "a"}, boost::json::object());
    CHECK(all.find("two") == nullptr);
  }

  TEST_CASE("both API groups are followed, and the newer one wins") {
    CHECK(node_configs::collection(0).path == "/apis/node.waok8s.github.io/v1beta1/nodeconfigs");
    CHECK(node_configs::collection(1).path == "/apis/wao.bitmedia.co.jp/v1beta1/nodeconfigs");
    node_configs all;
    all.of_group(1).changed({"ns", "a"}, object_of("n", "{}"));
    REQUIRE(all.find("n") != nullptr);
    CHECK(all.find("n")->model.has_error());
    all.of_group(0).changed({"ns", "z"}, object_of("n", v2));
    CHECK(all.find("n")->model.has_value());
  }
}

}  // namespace node_configs_test
