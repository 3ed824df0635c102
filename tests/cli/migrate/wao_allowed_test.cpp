#include "cli/migrate/migration.hpp"
#include "tests/cli/migrate/wao_manifests.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace wao_allowed_test {

using namespace binnacle::cli::migrate;
using namespace binnacle::cli::migrate::test;

TEST_SUITE("cli/migrate/wao_allowed") {
  TEST_CASE("an endpoint provider's server and Secret are carried over, and the model's server is told of") {
    const std::string provider =
        R"(powerConsumptionEndpointProvider: {type: Redfish, endpoint: "https://10.0.0.7", basicAuthSecret: {name: bmc}})";
    const std::string guarded = R"(powerConsumption: {type: "", endpoint: "", basicAuthSecret: {name: pc}})";
    const auto m =
        of(node_config("a", "{" + provider + "}") + node_config("b", "{" + provider + ", " + guarded + "}") +
           node_config("c", "{" + provider + ", " + served.substr(1)));
    CHECK(values(m) == R"(aggregator:
  modelServers:
    - 10.0.0.7:443
    - 10.0.0.20:8080
  modelServersSecrets:
    namespace: wao-system
    names:
      - bmc
      - pc
)");
    CHECK(sentence(m, "NodeConfig a", note::fate::yours).find("aggregator.modelServersCa") !=
          std::string::npos);
    CHECK(sentence(m, "powerConsumptionEndpointProvider", note::fate::yours)
              .find("The server of the model that it names must be in aggregator.modelServers, too") !=
          std::string::npos);
    const auto is_about_all = [](const note& n) { return n.subject == "powerConsumptionEndpointProvider"; };
    CHECK_MESSAGE(std::ranges::count_if(m.notes, is_about_all) == 1, "once for all");
    CHECK(fates(m).find("works: 3 NodeConfig or NodeConfigTemplate objects") != std::string::npos);
  }

  TEST_CASE("a Secret that an object names may be read from now on, and one of another namespace may not") {
    const auto guarded = [](const std::string& name, const std::string& secret) {
      return node_config(name, guarded_by(secret));
    };
    std::string elsewhere = guarded("d", "pc");
    elsewhere.replace(elsewhere.find("wao-system"), 10, "team");
    const auto m = of(guarded("a", "pc") + guarded("b", "pc") + guarded("c", "pc-2") + elsewhere);
    CHECK(values(m) == R"(aggregator:
  modelServers:
    - h:443
  modelServersSecrets:
    namespace: wao-system
    names:
      - pc
      - pc-2
)");
    CHECK(sentence(m, "NodeConfig d", note::fate::yours).find("its Secret team/pc is not read") !=
          std::string::npos);
    const auto templated = [](const std::string& secret) { return node_config_template(guarded_by(secret)); };
    CHECK(values(of(templated("pc"))).find("- pc") != std::string::npos);
    const auto each = of(templated("of-{{.Hostname}}"));
    CHECK(values(each).find("modelServersSecrets") == std::string::npos);
    const auto says = [](const migration& of, std::string_view words) {
      return std::ranges::any_of(of.notes, [&](const note& n) {
        return n.what == note::fate::yours && n.sentence.find(words) != n.sentence.npos;
      });
    };
    CHECK(says(each, "each node has a Secret of its own"));
    // Whichever comes first has the namespace. The advice about the other is to move it there.
    const auto second = of(elsewhere + templated("of-{{.Hostname}}"));
    CHECK(says(second, "its Secrets are not read, only those of the namespace team: move"));
    CHECK_FALSE(says(second, "each node has a Secret of its own"));
    const auto first = of(templated("of-{{.Hostname}}") + elsewhere);
    CHECK(says(first, "each node has a Secret of its own"));
    CHECK(says(first, "its Secret team/pc is not read, only those of the namespace wao-system: move"));
  }
}

}  // namespace wao_allowed_test
