#include "aggregator/custom_metrics/openapi.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <string>

namespace openapi_test {

using namespace binnacle::custom_metrics;
namespace json = boost::json;

namespace {

const openapi_documents documents;

json::object at(const std::vector<std::string>& path) {
  const tagged_document* found = documents.find(path);
  REQUIRE(found != nullptr);
  return json::parse(found->body).as_object();
}

/// Every "$ref" in `v`.
void collect(const json::value& v, std::vector<std::string>& out) {
  if (const auto* list = v.if_array()) {
    for (const auto& item : *list) collect(item, out);
  }
  if (const auto* object = v.if_object()) {
    for (const auto& pair : *object) {
      if (pair.key() == "$ref") {
        out.emplace_back(pair.value().as_string());
      } else {
        collect(pair.value(), out);
      }
    }
  }
}

TEST_SUITE("aggregator/custom_metrics/openapi") {
  TEST_CASE("version 2 describes both versions of the API in one document whose references lead somewhere") {
    const json::object all = at({"openapi", "v2"});
    CHECK(all.at("swagger") == "2.0");
    CHECK(all.at("paths").as_object().contains("/apis/custom.metrics.k8s.io/v1beta1/nodes/{node}/{metric}"));
    CHECK(all.at("paths").as_object().contains("/apis/custom.metrics.k8s.io/v1beta2/"));
    std::vector<std::string> refs;
    collect(all, refs);
    CHECK_FALSE(refs.empty());
    for (const std::string& ref : refs) {
      CAPTURE(ref);
      REQUIRE(ref.starts_with("#/definitions/"));
      CHECK(all.at("definitions").as_object().contains(ref.substr(14)));
    }
  }

  TEST_CASE("version 3 has an index whose addresses change with what is there, and a document for each") {
    const json::object index = at({"openapi", "v3"}).at("paths").as_object();
    CHECK(index.size() == 2);
    for (const char* version : {"v1beta1", "v1beta2"}) {
      CAPTURE(version);
      const std::vector<std::string> path{"openapi", "v3", "apis", "custom.metrics.k8s.io", version};
      const std::string address(index.at("apis/custom.metrics.k8s.io/" + std::string(version))
                                    .as_object()
                                    .at("serverRelativeURL")
                                    .as_string());
      const std::string& tag = documents.find(path)->etag;
      CHECK(address == "/openapi/v3/apis/custom.metrics.k8s.io/" + std::string(version) +
                           "?hash=" + tag.substr(1, tag.size() - 2));
      const json::object one = at(path);
      CHECK(one.at("openapi") == "3.0.0");
      std::vector<std::string> refs;
      collect(one, refs);
      CHECK_FALSE(refs.empty());
      for (const std::string& ref : refs) {
        REQUIRE(ref.starts_with("#/components/schemas/"));
        CHECK(one.at("components").at("schemas").as_object().contains(ref.substr(21)));
      }
    }
  }

  TEST_CASE("there is nothing anywhere else") {
    for (const std::vector<std::string>& path :
         {std::vector<std::string>{"openapi"},
          {"openapi", "v4"},
          {"openapi", "v3", "apis"},
          {"openapi", "v3", "apis", "custom.metrics.k8s.io", "v2"},
          {"openapi", "v2", "apis", "custom.metrics.k8s.io", "v1beta1"}})
      CHECK(documents.find(path) == nullptr);
  }
}

}  // namespace

}  // namespace openapi_test
