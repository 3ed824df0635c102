#include "aggregator/model_servers/node_template.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <string>

namespace node_template_test {

using namespace binnacle;
using namespace binnacle::model_servers;

namespace {

constexpr template_values worker{"worker-7", "10.0.3.20"};

std::string filled(std::string_view text, const template_values& of = worker) {
  const auto made = fill_in(text, of);
  return made.has_error() ? "error" : *made;
}

/// The spec of WAO's documentation, with another selector and another endpoint of the predictor.
boost::json::object spec_of(const std::string& selector, const std::string& endpoint) {
  return boost::json::parse(fmt::format(R"({{"nodeSelector":{},"template":{{"metricsCollector":{{
    "inletTemp":{{"type":"Redfish","endpoint":"https://10.0.0.{{{{.IPv4.Octet4}}}}","basicAuthSecret":{{"name":"r"}},"fetchInterval":"10s"}},
    "deltaP":{{"type":"Fake","endpoint":""}}}},
    "predictor":{{"powerConsumption":{{"type":"V2InferenceProtocol","endpoint":"{}"}}}}}}}})",
                                        selector, endpoint))
      .as_object();
}

result<node_template> read(const std::string& selector,
                           const std::string& endpoint = "http://h/v2/models/m") {
  return node_template::read({"wao-system", "all"}, spec_of(selector, endpoint));
}

bool selects(const node_template& t, const std::map<std::string, std::string, std::less<>>& labels) {
  return t.selects([&labels](std::string_view key) -> std::optional<std::string_view> {
    const auto at = labels.find(key);
    return at == labels.end() ? std::nullopt : std::optional<std::string_view>(at->second);
  });
}

}  // namespace

TEST_SUITE("aggregator/model_servers/node_template") {
  TEST_CASE("the variables and functions of WAO's documentation are filled in") {
    CHECK(filled("http://models/v2/models/m") == "http://models/v2/models/m");
    CHECK(filled("https://{{.Hostname}}.bmc:{{ .IPv4.Octet4 }}/x") == "https://worker-7.bmc:20/x");
    CHECK(filled("{{.IPv4.Address}} {{.IPv4.Octet1}}.{{.IPv4.Octet2}}.{{.IPv4.Octet3}}") ==
          "10.0.3.20 10.0.3");
    CHECK(filled("10.0.{{ add .IPv4.Octet3 10 }}.1") == "10.0.13.1");
    CHECK_MESSAGE(filled("{{ add 9223372036854775807 1 }}") == "-9223372036854775808", "wraps, as in Go");
    CHECK_MESSAGE(filled("{{ trimPrefix \"worker-\" .Hostname }}") == "7",
                  "sprig's order: first what is cut off");
    CHECK(filled("{{ trimPrefix \"other-\" .Hostname }}") == "worker-7");
    CHECK(filled("{{ \"a b\" }}") == "a b");
  }

  TEST_CASE("what a node does not have is what WAO writes for it") {
    CHECK(filled("{{.Hostname}} {{.IPv4.Address}} {{.IPv4.Octet2}}", {}) ==
          "undefined.example.com x.x.x.x x");
    CHECK_MESSAGE(filled("{{.IPv4.Address}} {{.IPv4.Octet1}}", {"h", "fd00::7"}) == "fd00::7 x",
                  "an IPv6 node: its address, but no parts");
    for (const char* odd : {"10.0.3", "10.0.3.256", "10.0..1", "10.0.3.20.1"})
      CHECK_MESSAGE(filled("{{.IPv4.Octet1}}", {"h", odd}) == "x", odd);
  }

  TEST_CASE("all else of Go's templates is refused, with what it was") {
    for (const char* text :
         {"{{ .Hostname | upper }}", "{{ upper .Hostname }}", "{{.Labels}}", "{{ if true }}x{{ end }}",
          "{{- .Hostname }}", "{{.IPv4.Octet5}}", "{{ add }}", "{{ trimPrefix .Hostname }}", "{{}}",
          "a {{ .Hostname", "{{ \"open }}", "{{ nindent 2 .Hostname }}"}) {
      CAPTURE(text);
      const auto made = fill_in(text, worker);
      REQUIRE(made.has_error());
      CHECK(made.error().message.find("is not filled in") != std::string::npos);
    }
    CHECK(fill_in("x{{ upper .Hostname }}", worker).error().message.starts_with("\"{{ upper .Hostname }}\""));
  }

  TEST_CASE("a template gives its model to the nodes that its selector takes") {
    const auto t = read(R"({"matchLabels":{"kind":"r650"},"matchExpressions":[
      {"key":"zone","operator":"In","values":["a","b"]},{"key":"gpu","operator":"DoesNotExist"}]})");
    REQUIRE(t.has_value());
    CHECK(selects(*t, {{"kind", "r650"}, {"zone", "b"}}));
    CHECK_FALSE(selects(*t, {{"kind", "r650"}, {"zone", "c"}}));
    CHECK_FALSE(selects(*t, {{"kind", "r650"}, {"zone", "a"}, {"gpu", ""}}));
    CHECK_FALSE(selects(*t, {{"zone", "a"}}));
    const auto m = t->model_of(worker);
    CHECK(m.object == "NodeConfigTemplate wao-system/all");
    REQUIRE(m.model.has_value());
    CHECK(m.model->model.text() == "http://h:80/v2/models/m/infer");
    CHECK(*m.model->pressure == 7.5);
  }

  TEST_CASE("a selector that says nothing takes every node, as in Kubernetes") {
    const auto t = read("{}");
    REQUIRE(t.has_value());
    CHECK(selects(*t, {}));
  }

  TEST_CASE("only the model's endpoint is filled in, and an address is asked for only if it is needed") {
    CHECK_FALSE_MESSAGE(read("{}")->needs_address(), "the collector's endpoint is not asked");
    const auto by_name = read("{}", "http://{{.Hostname}}:8080/v2/models/m");
    REQUIRE(by_name.has_value());
    CHECK_FALSE(by_name->needs_address());
    CHECK(by_name->model_of(worker).model->model.server() == "worker-7:8080");
    CHECK(by_name->model_of({"worker-8", ""}).model->model.server() == "worker-8:8080");
    const auto by_address = read("{}", "http://{{.IPv4.Address}}:8080/v2/models/m");
    CHECK(by_address->needs_address());
    CHECK(by_address->model_of(worker).model->model.server() == "10.0.3.20:8080");
  }

  TEST_CASE("the name of the model's Secret is filled in, and is one of the template's namespace") {
    const auto with = [](const std::string& name) {
      auto spec = spec_of("{}", "https://h/v2/models/m");
      auto& power = spec.at("template").at("predictor").at("powerConsumption").as_object();
      power["basicAuthSecret"] = boost::json::object{{"name", name}};
      return node_template::read({"wao-system", "all"}, spec);
    };
    const auto secret = [](const result<node_template>& t, const template_values& of) {
      return t->model_of(of).model->model.secret;
    };
    const auto by_node = with("of-{{.Hostname}}");
    REQUIRE(by_node.has_value());
    CHECK(secret(by_node, worker) == "wao-system/of-worker-7");
    CHECK(secret(by_node, {"worker-8", ""}) == "wao-system/of-worker-8");
    CHECK(with("{{.IPv4.Octet4}}")->needs_address());
    CHECK(secret(with("pc"), worker) == "wao-system/pc");
    CHECK(with("{{ upper .Hostname }}")
              .error()
              .message.starts_with("predictor.powerConsumption.basicAuthSecret.name: "));
  }

  TEST_CASE("a template that can be used for no node says why") {
    const auto why = [](const result<node_template>& t) {
      return t.has_error() ? t.error().message : "no error";
    };
    CHECK(
        why(read("{}", "http://{{ upper .Hostname }}/v2/models/m"))
            .starts_with("predictor.powerConsumption.endpoint: \"{{ upper .Hostname }}\" is not filled in"));
    CHECK(why(read(R"({"matchExpressions":[{"key":"a","operator":"Near"}]})")).find("operator \"Near\"") !=
          std::string::npos);
    CHECK(why(read(R"({"matchLabels":{"a":7}})")).find("no text") != std::string::npos);
    CHECK(why(read(R"({"matchLabels":{"a b":"c"}})")).find("cannot be read") != std::string::npos);
    CHECK(why(read("{}", "http://h/v2/models")).find("is not /v2/models/NAME") != std::string::npos);
    CHECK(why(node_template::read({"n", "t"}, {})) == "it has no nodeSelector");
    CHECK(why(node_template::read({"n", "t"}, boost::json::parse(R"({"nodeSelector":{}})").as_object())) ==
          "it has no template");
  }

  TEST_CASE("defect: a template with a long text is refused, because it would be filled in for each node") {
    const auto why = [](const result<node_template>& t) {
      return t.has_error() ? t.error().message : "no error";
    };
    std::string sums = "http://h/v2/models/";
    while (sums.size() <= longest_text) sums += "{{add 1 1}}";
    CHECK(why(read("{}", sums)) == "predictor.powerConsumption.endpoint: it has more than 1024 bytes");
    const std::string large(longest_text + 1, 'x');
    auto spec = spec_of("{}", "http://h/v2/models/m");
    spec.at("template").at("metricsCollector").at("deltaP").as_object()["type"] = large;
    CHECK(why(node_template::read({"n", "t"}, spec)) ==
          "metricsCollector.deltaP.type: it has more than 1024 bytes");
    const std::string of_selector = "its nodeSelector has a key or a value of more than 1024 bytes";
    CHECK(why(read(fmt::format(R"({{"matchLabels":{{"{}":"a"}}}})", large))) == of_selector);
    CHECK(why(read(fmt::format(R"({{"matchLabels":{{"a":"{}"}}}})", large))) == of_selector);
    const std::string expression = R"({{"matchExpressions":[{{"key":"{}","operator":"In","values":[{}]}}]}})";
    CHECK(why(read(fmt::format(fmt::runtime(expression), large, R"("a")"))) == of_selector);
    CHECK(why(read(fmt::format(fmt::runtime(expression), "a", '"' + large + '"'))) == of_selector);
    std::string many = "\"a\"";
    for (int i = 0; i < 20'000; ++i) many += fmt::format(",\"{}\"", i);
    CHECK(why(read(fmt::format(fmt::runtime(expression), "a", many))) ==
          "its nodeSelector has more than 64 KiB");
    // What is not read may have any size.
    spec = spec_of("{}", "http://{{.Hostname}}/v2/models/m");
    spec.at("template").at("metricsCollector").at("inletTemp").as_object()["endpoint"] = large;
    const auto t = node_template::read({"n", "t"}, spec);
    REQUIRE(t.has_value());
    CHECK(t->model_of(worker).model.has_value());
    // Each variable makes a text longer.
    std::string names = "http://h/v2/models/";
    for (int i = 0; i < 50; ++i) names += "{{.Hostname}}";
    const std::string hostname(63, 'h');
    CHECK(read("{}", names)->model_of({hostname, ""}).model.error().message ==
          "predictor.powerConsumption.endpoint has more than 1024 bytes");
  }

  TEST_CASE("the endpoint provider of a template and its Secret are filled in") {
    auto spec = spec_of("{}", "http://h/v2/models/m");
    auto& predictor = spec.at("template").at("predictor").as_object();
    predictor["powerConsumptionEndpointProvider"] =
        boost::json::object{{"type", "Redfish"},
                            {"endpoint", "https://10.0.1.{{.IPv4.Octet4}}"},
                            {"basicAuthSecret", boost::json::object{{"name", "bmc-{{.Hostname}}"}}}};
    const auto t = node_template::read({"wao-system", "t"}, spec);
    REQUIRE(t.has_value());
    CHECK(t->needs_address());
    const auto m = t->model_of(worker);
    REQUIRE(m.model.has_value());
    REQUIRE(m.model->provider);
    CHECK(m.model->provider->text() == "https://10.0.1.20:443");
    CHECK(m.model->provider->secret == "wao-system/bmc-worker-7");
    CHECK(m.model->model.server() == "h:80");
    predictor["powerConsumptionEndpointProvider"].as_object()["endpoint"] = "https://{{ upper .Hostname }}";
    CHECK(node_template::read({"n", "t"}, spec)
              .error()
              .message.starts_with("predictor.powerConsumptionEndpointProvider.endpoint: "));
  }
}

}  // namespace node_template_test
