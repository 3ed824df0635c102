#include "aggregator/model_servers/model_input.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace model_input_test {

using namespace binnacle;
using namespace binnacle::model_servers;
using shape = model_input::shape;

std::string metadata(const std::string& inputs) {
  return R"({"name":"pc","versions":["1"],"platform":"python","inputs":[)" + inputs +
         R"(],"outputs":[{"name":"predict","datatype":"FP32","shape":[-1,1]}]})";
}

std::string one(const std::string& name, const std::string& type, const std::string& of) {
  return fmt::format(R"({{"name":"{}","datatype":"{}","shape":{}}})", name, type, of);
}

result<model_input> read(const std::string& inputs) { return input_of(described_in(metadata(inputs)), 3); }

std::string refused(const std::string& inputs) {
  const auto got = read(inputs);
  return got.has_error() ? got.error().message : "";
}

TEST_SUITE("aggregator/model_servers/model_input") {
  TEST_CASE("an input's name, type and shape are read, and the usual one is found among several") {
    CHECK(*read(one("features", "FP64", "[-1,3]")) == model_input{"features", true, shape::rows});
    CHECK(*read(one("x", "FP32", "[-1,-1]")) == model_input{"x", false, shape::rows});
    CHECK(*read(one("x", "FP32", "[1,3]")) == model_input{"x", false, shape::row});
    CHECK(*read(one("x", "FP32", "[3]")) == model_input{"x", false, shape::bare});
    CHECK(*read(one("extra", "BYTES", "[1]") + "," + one("predict-prob", "FP64", "[-1,3]")) ==
          model_input{"predict-prob", true, shape::rows});
  }

  TEST_CASE("metadata as Triton gave them are read") {
    const auto described = described_in(
        R"({"name":"other-input","versions":["1"],"platform":"python","inputs":[{"name":"features","datatype":"FP64","shape":[-1,3]}],"outputs":[{"name":"predict","datatype":"FP32","shape":[-1,1]}]})");
    CHECK(*input_of(described, 3) == model_input{"features", true, shape::rows});
  }

  TEST_CASE("metadata that say nothing of inputs leave the usual input") {
    CHECK(*read("") == model_input{});
    for (const std::string body :
         {"", "OK", "[]", "{}", R"({"inputs":null})", R"({"inputs":{}})", R"({"inputs":[1]})",
          R"({"inputs":[{}]})", R"({"inputs":[{"name":"x","datatype":"FP32","shape":"3"}]})",
          R"({"inputs":[{"name":"x","datatype":"FP32","shape":[-1,3.5]}]})",
          R"({"inputs":[{"name":7,"datatype":"FP32","shape":[-1,3]}]})",
          R"({"error":"Request for unknown model"})"}) {
      CAPTURE(body);
      CHECK(described_in(body).empty());
    }
    CHECK_MESSAGE(described_in(std::string(100'000, '[')).empty(), "nesting is bounded");
  }

  TEST_CASE("an input that numbers cannot be given to is refused by name") {
    CHECK(refused(one("x", "FP32", "[-1,4]")) ==
          R"(by its metadata its input "x" has the shape [-1,4], and can be given [-1,3], [1,3] or [3])");
    CHECK(refused(one("x", "INT64", "[-1,3]")) ==
          R"(by its metadata its input "x" is of type "INT64", and can be given FP32 or FP64)");
    CHECK(refused(one("a", "FP32", "[-1,1]") + "," + one("b", "FP32", "[-1,1]")) ==
          "by its metadata the model takes 2 inputs, and can be given one");
    for (const std::string of : {"[]", "[-1]", "[4]", "[8,3]", "[0,3]", "[-1,2]", "[-1,1,3]", "[-2,3]",
                                 "[-9223372036854775808,3]", "[1,2,3,4,5,6,7,8,9]"}) {
      CAPTURE(of);
      CHECK_FALSE(refused(one("x", "FP32", of)).empty());
    }
    CHECK_FALSE(refused(one(std::string(257, 'x'), "FP32", "[-1,3]")).empty());
    std::string endless = "[1";
    for (int i = 0; i < 10'000; ++i) endless += ",1";
    CHECK_MESSAGE(refused(one("x", std::string(5'000, 'y'), endless + "]")).size() < 200,
                  "what is said is short");
    CHECK(refused(one("x", "FP32", endless + "]")).size() < 200);
  }

  TEST_CASE("of a model with very many inputs, and of members beyond a bound, nothing is kept") {
    std::string many = one("a", "FP32", "[-1,1]");
    for (int i = 0; i < 1'000; ++i) many += "," + one("a", "FP32", "[-1,1]");
    CHECK(described_in(metadata(many)).size() == most_inputs);
    CHECK(refused(many) == "by its metadata the model takes at least 16 inputs, and can be given one");
    std::string members;
    for (int i = 0; i < 1'000; ++i) members += fmt::format(R"("m{}":0,)", i);
    CHECK(described_in("{" + members + R"("inputs":[)" + one("x", "FP32", "[-1,3]") + "]}").empty());
  }
}

}  // namespace model_input_test
