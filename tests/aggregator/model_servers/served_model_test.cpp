#include "aggregator/model_servers/served_model.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace served_model_test {

using namespace binnacle;
using model_servers::v2_model;

TEST_SUITE("aggregator/model_servers/served_model") {
  TEST_CASE("a V2 endpoint names server, model and version, and a path before /v2 is kept") {
    const std::vector<std::pair<std::string, std::string>> good{
        {"http://10.0.0.1:8080/v2/models/pc/versions/v0.1.0/infer",
         "http://10.0.0.1:8080/v2/models/pc/versions/v0.1.0/infer"},
        {"http://h/v2/models/pc/infer", "http://h:80/v2/models/pc/infer"},
        {"http://h:1/v2/models/pc", "http://h:1/v2/models/pc/infer"},
        {"http://h:1/v2/models/pc/", "http://h:1/v2/models/pc/infer"},
        {"http://h:1/v2/models/pc/versions/1", "http://h:1/v2/models/pc/versions/1/infer"},
        {"https://h/seldon/ns/m/v2/models/PC-R650xs-2CPU/infer",
         "https://h:443/seldon/ns/m/v2/models/PC-R650xs-2CPU/infer"},
        {"http://[::1]:8080/v2/models/pc/infer", "http://[::1]:8080/v2/models/pc/infer"},
        {"grpc://triton:8001/v2/models/pc/versions/1/infer", "grpc://triton:8001/v2/models/pc/versions/1"},
        {"grpcs://h/v2/models/pc", "grpcs://h:443/v2/models/pc"},
        {"HTTP://Models.Example/v2/models/PC", "http://Models.Example:80/v2/models/PC/infer"},
        {"gRPCs://h/v2/models/pc", "grpcs://h:443/v2/models/pc"},
    };
    for (const auto& row : good) {
      CAPTURE(row.first);
      const auto m = v2_model(row.first);
      REQUIRE(m.has_value());
      CHECK(m->text() == row.second);
    }
  }

  TEST_CASE("the metadata of a V2 model are where its questions go, without the last segment") {
    CHECK(v2_model("http://h:1/pre/v2/models/pc/versions/1/infer")->metadata_path() ==
          "/pre/v2/models/pc/versions/1");
    CHECK(v2_model("http://h:1/v2/models/infer")->metadata_path() == "/v2/models/infer");
  }

  TEST_CASE("what is no V2 endpoint is refused in words") {
    for (const std::string text : {"",
                                   "h:1/v2/models/pc",
                                   "ftp://h/v2/models/pc",
                                   "http:///v2/models/pc",
                                   "http://h:0/v2/models/pc",
                                   "http://h/v2/models/",
                                   "http://h/v2/models//infer",
                                   "http://h/v1/models/pc",
                                   "http://h/v2/models/pc/x",
                                   "http://h/v2/models/pc/versions//infer",
                                   "http://h/v2/models/pc/infer/x",
                                   "http://h/v2/models/pc?x=1",
                                   "http://h/v2/models/p c",
                                   "http://h/v2/models/../infer",
                                   "http://u:p@h/v2/models/pc",
                                   "http://h/v2/models/pc\r\nX: y",
                                   "https://fake-endpoint",
                                   "grpcx://h:1/v2/models/pc",
                                   "grpc://h:1/prefix/v2/models/pc",
                                   "grpc://h:1"}) {
      CAPTURE(text);
      const auto m = v2_model(text);
      REQUIRE(m.has_error());
      CHECK(m.error().message.find("endpoint") != std::string::npos);
      CHECK_MESSAGE(m.error().message.find("u:p") == std::string::npos, "a password is not repeated");
    }
  }

  TEST_CASE("by gRPC a model has a name and a version, and no path before them") {
    const auto m = v2_model("grpc://h:8001/v2/models/pc/versions/v0.1.0/infer");
    REQUIRE(m.has_value());
    CHECK(m->by == model_servers::carrier::grpc);
    CHECK_FALSE(m->secure);
    CHECK(m->name == "pc");
    CHECK(m->version == "v0.1.0");
    CHECK(v2_model("grpcs://h/v2/models/pc")->secure);
    CHECK(v2_model("grpc://h:1/a/v2/models/pc").error().message.find("gRPC does not know") !=
          std::string::npos);
  }

  TEST_CASE("a model of TensorFlow Serving has its version in the path, or the newest") {
    const auto path = [](std::string_view version) {
      return model_servers::tf_model(model_servers::carrier::rest, "h", 8501, "konohana", version, "konohana")
          ->path;
    };
    CHECK(path("1218") == "/v1/models/konohana/versions/1218:predict");
    CHECK(path("") == "/v1/models/konohana:predict");
    CHECK_MESSAGE(path("latest") == "/v1/models/konohana:predict", "as with WAO: as if it were absent");
    CHECK(model_servers::tf_model(model_servers::carrier::rest, "h", 8501, "a/b", "", "").has_error());
    const auto by_grpc = [](std::string_view version) {
      return *model_servers::tf_model(model_servers::carrier::grpc, "h", 8500, "konohana", version,
                                      "konohana");
    };
    CHECK(by_grpc("1218").text() == "grpc://h:8500/v1/models/konohana/versions/1218");
    CHECK(by_grpc("1218").version == "1218");
    CHECK(by_grpc("latest").version.empty());
    CHECK_MESSAGE(by_grpc("99999999999999999999").version.empty(), "no number of 64 bits");
  }
}

}  // namespace served_model_test
