#include "cli/migrate/migration.hpp"
#include "tests/cli/migrate/wao_manifests.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace wao_template_test {

using namespace binnacle::cli::migrate;
using namespace binnacle::cli::migrate::test;

TEST_SUITE("cli/migrate/wao_template") {
  TEST_CASE(
      "a template whose nodes share a server names it, and one whose nodes do not is left to a person") {
    const auto templated = [](const std::string& endpoint) {
      return node_config_template(
          fmt::format(R"({{powerConsumption: {{type: V2InferenceProtocol, endpoint: "{}"}}}})", endpoint));
    };
    const std::string title = "NodeConfigTemplate r650";
    auto m = of(templated("http://models:8080/v2/models/{{.Hostname}}"));
    CHECK(values(m).find("models:8080") != std::string::npos);
    m = of(templated("http://{{.Hostname}}:8080/v2/models/m"));
    CHECK(m.values.size() == 0);
    CHECK(sentence(m, title, note::fate::yours).ends_with("as HOST:PORT or as *.SUFFIX:8080"));
    for (const char* of_its_own :
         {"http://{{.IPv4.Address}}:8080/v2/models/m", "http://{{.Hostname}}:{{.IPv4.Octet3}}/v2/models/m"}) {
      m = of(templated(of_its_own));
      CHECK_MESSAGE(sentence(m, title, note::fate::yours).ends_with("as HOST:PORT"),
                    "an address has no suffix, and no port is that of all nodes");
    }
    m = of(templated("http://{{ lower .Hostname }}/v2/models/m"));
    CHECK(sentence(m, title, note::fate::yours).find("is not filled in") != std::string::npos);
    CHECK(m.objects.empty());
  }

  TEST_CASE("defect: a template that uses part of an address gave the values servers that nobody has") {
    const auto with = [](const std::string& host, const std::string& secret) {
      return of(node_config_template(fmt::format(
          R"({{powerConsumption: {{type: V2InferenceProtocol, endpoint: 'https://{}/v2/models/m', basicAuthSecret: {{name: '{}'}}}}}})",
          host, secret)));
    };
    const auto is_each = [](const note& n) { return n.sentence.starts_with("each node has a "); };
    for (const char* action :
         {"{{.IPv4.Octet1}}", "{{.IPv4.Octet2}}", "{{.IPv4.Octet3}}", "{{.IPv4.Octet4}}", "{{.IPv4.Address}}",
          "{{ add .IPv4.Octet1 1 }}", "{{ add .IPv4.Octet2 .IPv4.Octet3 }}", "{{.Hostname}}",
          "{{ trimPrefix \"one.\" .Hostname }}"}) {
      CAPTURE(action);
      const auto m = with("m10." + std::string(action) + ".0.1", "of-" + std::string(action) + "-x");
      CHECK_MESSAGE(m.values.size() == 0, values(m));
      CHECK_MESSAGE(std::ranges::count_if(m.notes, is_each) == 2, "of the server and of the Secret");
    }
    const auto port = with("models:{{.IPv4.Octet2}}", "pc");
    CHECK(values(port).find("modelServers:") == std::string::npos);
    CHECK(std::ranges::count_if(port.notes, is_each) == 1);
  }

  TEST_CASE("defect: nothing was said of a template whose swapped arguments give all nodes one server") {
    const auto with = [](const std::string& action) {
      return of(node_config_template(fmt::format(
          R"({{powerConsumption: {{type: V2InferenceProtocol, endpoint: 'http://m-{}.models/v2/models/m'}}}})",
          action)));
    };
    CHECK(sentence(with(R"({{ trimPrefix .Hostname "worker-" }}x)"), "NodeConfigTemplate r650",
                   note::fate::yours) ==
          "{{ trimPrefix .Hostname \"worker-\" }} is \"worker-\" for every node: trimPrefix takes first what "
          "it "
          "cuts off, and then the text");
    for (const char* fine : {R"({{ trimPrefix "worker-" .Hostname }})", "{{ add 1 2 }}", "a"}) {
      const auto m = with(fine);
      CHECK_MESSAGE(std::ranges::none_of(
                        m.notes, [](const note& n) { return n.sentence.find("every") != n.sentence.npos; }),
                    fine);
    }
  }

  TEST_CASE("a template whose nodes share an endpoint provider names it, and else a person does") {
    const auto templated = [](const std::string& host, const std::string& secret) {
      return node_config_template(fmt::format(
          R"({{powerConsumption: {{type: "{{{{.Hostname}}}}", endpoint: ""}}, powerConsumptionEndpointProvider: {{type: Redfish, endpoint: "https://{}", basicAuthSecret: {{name: "{}"}}}}}})",
          host, secret));
    };
    const auto shared = of(templated("mlmm:8443", "bmc"));
    CHECK(values(shared) == R"(aggregator:
  modelServers:
    - mlmm:8443
  modelServersSecrets:
    namespace: wao-system
    names:
      - bmc
)");
    const auto each = of(templated("10.0.0.{{.IPv4.Octet4}}", "of-{{.Hostname}}"));
    CHECK(each.values.size() == 0);
    std::string said;
    for (const note& n : each.notes) said += n.subject == "NodeConfigTemplate r650" ? n.sentence + "\n" : "";
    CHECK_MESSAGE(said.find("each node has an endpoint provider of its own: name them in "
                            "aggregator.modelServers, as HOST:PORT\n") != said.npos,
                  said);
    CHECK_MESSAGE(said.find("each of them speaks TLS") != said.npos, said);
    CHECK_MESSAGE(said.find("each node has a Secret of its own") != said.npos, said);
  }
}

}  // namespace wao_template_test
