#include "aggregator/model_servers/endpoint_provider.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace endpoint_provider_test {

using namespace binnacle;
using namespace binnacle::model_servers;

namespace {

endpoint_provider bmc(std::string secret = {}) {
  endpoint_provider out = *redfish_provider("https://bmc");
  out.secret = std::move(secret);
  return out;
}

http::answer says(unsigned status, std::string body) {
  http::answer out;
  out.status = status;
  out.body = std::move(body);
  return out;
}

/// The id of the first system; else "code: why".
std::string system_of(const http::answer& a, const endpoint_provider& of = bmc()) {
  const auto got = system_in(of, a);
  return got.has_value() ? *got
                         : fmt::format("{}: {}", binnacle::to_string(got.error().code), got.error().message);
}
std::string systems(const std::string& members) {
  return system_of(says(200, R"({"Members@odata.count":9,"Members":)" + members + "}"));
}

std::string model_of(const http::answer& a, const endpoint_provider& of = bmc()) {
  const auto got = model_in(of, a);
  return got.has_value() ? got->text()
                         : fmt::format("{}: {}", binnacle::to_string(got.error().code), got.error().message);
}
/// The answer of WAO's mlmm.
http::answer model(const std::string& url, const std::string& name = "PC-R650",
                   const std::string& version = "v0.1.0", const std::string& type = "V2InferenceProtocol") {
  return says(
      200,
      fmt::format(
          R"({{"PowerConsumptionModel":{{"Name":"{}","Url":"{}","Type":"{}","Version":"{}"}},"ResponseTimeModel":{{}}}})",
          name, url, type, version));
}

}  // namespace

TEST_SUITE("aggregator/model_servers/endpoint_provider") {
  TEST_CASE("a provider's endpoint is a server, perhaps with a path in front of Redfish's") {
    const std::vector<std::pair<std::string, std::string>> good{
        {"https://10.0.0.100", "https://10.0.0.100:443"},
        {"HTTPS://10.0.0.100", "https://10.0.0.100:443"},
        {"https://bmc/", "https://bmc:443"},
        {"http://mlmm:8080", "http://mlmm:8080"},
        {"https://[fd00::7]:8443/bmc/7//", "https://[fd00::7]:8443/bmc/7"},
    };
    for (const auto& row : good) {
      CAPTURE(row.first);
      const auto p = redfish_provider(row.first);
      REQUIRE(p.has_value());
      CHECK(p->text() == row.second);
    }
    for (const std::string text :
         {"", "10.0.0.100", "ftp://bmc", "grpcs://bmc", "https://", "https://bmc:0", "https://bmc/?x=1",
          "https://bmc/#x", "https://bmc/a b", "https://u:p@bmc", "https://bmc/\r\nX: y"}) {
      CAPTURE(text);
      REQUIRE(redfish_provider(text).has_error());
      CHECK_MESSAGE(redfish_provider(text).error().message.find("u:p") == std::string::npos,
                    "a password that should not be there is not quoted");
    }
  }

  TEST_CASE("of the systems the first one counts, by the last segment of its path") {
    CHECK(systems(R"([{"@odata.id":"/redfish/v1/Systems/System.Embedded.1"}])") == "System.Embedded.1");
    CHECK(systems(R"([{"@odata.id":"/redfish/v1/Systems/1/"}])") == "1");
    CHECK(systems(R"([{"@odata.id":"/redfish/v1/Systems/1"},{"@odata.id":"/redfish/v1/Systems/2"}])") == "1");
    CHECK_MESSAGE(systems(R"([{"@odata.id":"https://elsewhere/x/y/7"}])") == "7",
                  "it leads to no other place");
    CHECK(systems("[]") == "protocol: its answer for /redfish/v1/Systems has no Members");
    CHECK(system_of(says(200, "{}")) == "protocol: its answer for /redfish/v1/Systems has no Members");
    for (const std::string odd :
         {R"("/redfish/v1/Systems/..")", R"("/redfish/v1/Systems/.")", R"("/redfish/v1/Systems//")", R"("")",
          R"("/1?x=2")", R"("/1#a")", R"("/a b")", R"("/%2e%2e")", R"("/1\r\nX: y")", R"("/ä")", "7", "null"})
      CHECK_MESSAGE(
          systems(R"([{"@odata.id":)" + odd + R"(},{"@odata.id":"/redfish/v1/Systems/2"}])") ==
              "protocol: the first of its /redfish/v1/Systems has no @odata.id that ends with an id",
          odd);
    CHECK(systems("[7]").starts_with("protocol: "));
    CHECK(systems(R"([{"@odata.id":"/)" + std::string(257, 'x') + "\"}]").starts_with("protocol: "));
  }

  TEST_CASE("the model's Url, Name and Version make the endpoint, which is read as a written one") {
    CHECK(model_of(model("http://10.0.0.20:8080")) ==
          "http://10.0.0.20:8080/v2/models/PC-R650/versions/v0.1.0/infer");
    CHECK(model_of(model("https://models/pre/")) ==
          "https://models:443/pre/v2/models/PC-R650/versions/v0.1.0/infer");
    CHECK(model_of(model("grpcs://models:8001")) == "grpcs://models:8001/v2/models/PC-R650/versions/v0.1.0");
    const std::string no_endpoint =
        "protocol: Url, Name and Version of its PowerConsumptionModel make no endpoint "
        "http(s)://HOST:PORT/v2/models/NAME/versions/VERSION/infer";
    for (const std::string url :
         {"models:8080", "ftp://models", "file:///etc/passwd", "//models", "http://", "http://u:p@models",
          "http://models?x=", "http://models#", "http://models/v2/models/other", "http://mo dels"})
      CHECK_MESSAGE(model_of(model(url)) == no_endpoint, url);
    for (const std::string name : {"..", ".", "a/b", "a b", "a%2fb", "a?b", "a#b", "ä", R"(a\\b)", R"(a\nb)",
                                   "a/versions/1", "a/versions/1/infer"}) {
      CHECK_MESSAGE(model_of(model("http://h", name)) == no_endpoint, name);
      CHECK_MESSAGE(model_of(model("http://h", "m", name)) == no_endpoint, name);
    }
    CHECK(model_of(model("http://h", std::string(1024, 'x'))) == no_endpoint);
  }

  TEST_CASE("a model that lacks something, or is of another type, is said to") {
    CHECK(model_of(model("", "m")) == "protocol: its PowerConsumptionModel has no Url, or an empty one");
    CHECK(model_of(model("http://h", "")) ==
          "protocol: its PowerConsumptionModel has no Name, or an empty one");
    CHECK(model_of(model("http://h", "m", "")) ==
          "protocol: its PowerConsumptionModel has no Version, or an empty one");
    CHECK(model_of(model("http://h", "m", "1", "")) ==
          "protocol: its PowerConsumptionModel has no Type, or an empty one");
    CHECK(model_of(says(200, R"({"PowerConsumptionModel":{"Name":7}})")).find("has no Name") !=
          std::string::npos);
    CHECK(model_of(says(200, R"({"ResponseTimeModel":{}})")) ==
          "protocol: its MachineLearningModel has no PowerConsumptionModel");
    CHECK(model_of(model("http://h", "m", "1", "Fake")) ==
          "protocol: its PowerConsumptionModel is of another Type than V2InferenceProtocol, and only that is "
          "asked");
  }

  TEST_CASE("a refusal is said with its remedy, and nothing of an answer is quoted") {
    // As Redfish refuses, and as a careless server repeats what it was given.
    const std::string body = R"({"error":{"code":"Base.1.0","message":"you said s3cr3t"}})";
    const auto of_systems = [&](unsigned status, const std::string& secret = {}) {
      return system_of(says(status, body), bmc(secret));
    };
    const auto of_model = [&](unsigned status) { return model_of(says(status, body)); };
    CHECK(of_systems(401) ==
          "permission: it answered 401 for /redfish/v1/Systems: name a Secret with its user name and "
          "password in basicAuthSecret");
    CHECK(of_systems(401, "ns/bmc") ==
          "permission: it answered 401 for /redfish/v1/Systems: it does not accept the user name and "
          "password of the Secret ns/bmc, so correct them");
    CHECK(of_systems(403) ==
          "permission: it answered 403 for /redfish/v1/Systems: allow its user to read "
          "that");
    CHECK(of_systems(404) ==
          "not_found: it answered 404 for /redfish/v1/Systems: let the endpoint lead to a Redfish server");
    CHECK(of_model(404) ==
          "not_found: it answered 404 for /redfish/v1/Systems/ID/MachineLearningModel: BMCs have no such "
          "resource of their own, so let the endpoint lead to WAO's mlmm, which adds it, or name the model "
          "in predictor.powerConsumption alone");
    for (const unsigned status : {201U, 405U, 406U, 500U, 503U}) {
      CHECK(of_systems(status) == fmt::format("io: it answered {} for /redfish/v1/Systems", status));
      CHECK(of_model(status) ==
            fmt::format("io: it answered {} for /redfish/v1/Systems/ID/MachineLearningModel", status));
    }
    CHECK(of_systems(308) ==
          "io: it answered 308 for /redfish/v1/Systems: no redirect is followed, so let the endpoint be the "
          "one "
          "that it leads to");
    for (const std::string text : {"", "s3cr3t", "[]", "{\"Members\":", "<html>"}) {
      CHECK(system_of(says(200, text)) == "protocol: its answer for /redfish/v1/Systems is no JSON object");
      CHECK(model_of(says(200, text)) ==
            "protocol: its answer for /redfish/v1/Systems/ID/MachineLearningModel is no JSON object");
    }
    CHECK(model_of(model("http://s3cr3t/x y")).find("s3cr3t") == std::string::npos);
  }
}

}  // namespace endpoint_provider_test
