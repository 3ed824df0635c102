#include "aggregator/model_servers/question.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace model_question_test {

using namespace binnacle;
using namespace binnacle::model_servers;

question v2() {
  question q;
  q.model = *v2_model("http://h:1/v2/models/pc/versions/v0.1.0/infer");
  q.cores = 96;
  q.others = {22, 5, 0};
  return q;
}

question tf() {
  question q;
  q.model = *tf_model(carrier::rest, "h", 8501, "konohana", "1218", "konohana");
  q.cores = 16;
  q.top = 1;
  q.others = {.5, .5, .5};
  q.count = 3;
  return q;
}

result<std::vector<double>> watts_in(protocol speaks, std::string_view body, std::size_t count) {
  auto got = answer_in(speaks, body, count);
  if (got.has_error()) return got.error();
  return std::move(got->watts);
}

std::string members(std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += fmt::format(R"("m{}":0,)", i);
  return out;
}

TEST_SUITE("aggregator/model_servers/question") {
  TEST_CASE("a V2 request has a row for each load, with the other inputs beside it") {
    CHECK(
        body_of(v2(), 0, 2) ==
        R"({"inputs":[{"name":"predict-prob","shape":[2,3],"datatype":"FP32","data":[[0,22,5],[1,22,5]]}]})");
    CHECK(body_of(v2(), 99, 2).find("[[99,22,5],[100,22,5]]") != std::string::npos);
    question raw = v2();
    raw.top = raw.cores;
    CHECK(body_of(raw, 100, 1).find("[[96,22,5]]") != std::string::npos);
    CHECK(boost::json::parse(body_of(v2(), 0, points)).at("inputs").at(0).at("data").as_array().size() ==
          101);
  }

  TEST_CASE("a V2 request goes by the model's metadata: its input's name, type and shape") {
    using shape = model_input::shape;
    CHECK(body_of(v2(), 0, 2, {"a\"b", true, shape::rows}) ==
          R"({"inputs":[{"name":"a\"b","shape":[2,3],"datatype":"FP64","data":[[0,22,5],[1,22,5]]}]})");
    CHECK(body_of(v2(), 1, 1, {"x", false, shape::row}) ==
          R"({"inputs":[{"name":"x","shape":[1,3],"datatype":"FP32","data":[[1,22,5]]}]})");
    CHECK(body_of(v2(), 1, 1, {"x", false, shape::bare}) ==
          R"({"inputs":[{"name":"x","shape":[3],"datatype":"FP32","data":[1,22,5]}]})");
    CHECK_MESSAGE(body_of(tf(), 0, 1, {"x", true, shape::bare}) == body_of(tf(), 0, 1), "of V2 models only");
  }

  TEST_CASE("a request to TensorFlow Serving has shares, and the signature if there is one") {
    CHECK(body_of(tf(), 50, 1) == R"({"signature_name":"konohana","inputs":[[0.5,0.5,0.5,0.5]]})");
    question q = tf();
    q.model.signature.clear();
    CHECK(body_of(q, 0, 1) == R"({"inputs":[[0,0.5,0.5,0.5]]})");
    q.model.signature = "a\"b";
    CHECK(boost::json::parse(body_of(q, 0, 1)).at("signature_name").as_string() == "a\"b");
  }

  TEST_CASE("answers as MLServer, Triton and TensorFlow Serving gave them are read") {
    const auto two = watts_in(
        protocol::v2,
        R"({"model_name":"pc-model","model_version":"v0.1.0","id":"x","parameters":{},"outputs":[{"name":"predict","shape":[2,1],"datatype":"FP64","parameters":{"content_type":"np"},"data":[132.47,151.60]}]})",
        2);
    REQUIRE(two.has_value());
    CHECK(*two == std::vector<double>{132.47, 151.60});
    const auto one = watts_in(
        protocol::v2,
        R"({"model_name":"pc-model","model_version":"1","outputs":[{"name":"predict","datatype":"FP32","shape":[1,1],"data":[132.58999633789063]}]})",
        1);
    REQUIRE(one.has_value());
    CHECK(one->front() == doctest::Approx(132.59));
    for (const std::string text :
         {R"({"outputs":[[95.9459],[99.7103]]})", R"({"predictions":[[95.9459],[99.7103]]})",
          R"({"outputs":{"w":[[95.9459],[99.7103]]}})", R"({"predictions":[95.9459,99.7103]})",
          R"({"outputs":{"a":[[1],[2]],"outputs":[[95.9459],[99.7103]]}})"}) {
      CAPTURE(text);
      const auto w = watts_in(protocol::tf_serving, text, 2);
      REQUIRE(w.has_value());
      CHECK(*w == std::vector<double>{95.9459, 99.7103});
    }
  }

  TEST_CASE("nested and flat data, whole numbers, and an output chosen by its name are read") {
    for (const std::string data : {"[1,2]", "[[1],[2]]", "[[1,2]]", "[1.0,2e0]"}) {
      CAPTURE(data);
      const auto w = watts_in(protocol::v2, R"({"outputs":[{"name":"w","data":)" + data + "}]}", 2);
      REQUIRE(w.has_value());
      CHECK(*w == std::vector<double>{1, 2});
    }
    CHECK(watts_in(protocol::v2, R"({"outputs":[{"name":"sd","data":[9]},{"name":"predict","data":[5]}]})", 1)
              ->front() == 5);
  }

  TEST_CASE("an answer of 200 with garbage is an error in words") {
    for (const std::string text :
         {"", "OK", "{", "[]", "{}", R"({"outputs":[]})", R"({"outputs":[{}]})",
          R"({"outputs":[{"data":7}]})", R"({"outputs":[{"data":[1]}]})", R"({"outputs":[{"data":[1,2,3]}]})",
          R"({"outputs":[{"data":["1","2"]}]})", R"({"outputs":[{"data":[null,2]}]})",
          R"({"outputs":[{"data":[[[[1,2]]]]}]})", R"({"outputs":[1,2]})", R"({"error":"x"})"}) {
      CAPTURE(text);
      for (const protocol speaks : {protocol::v2, protocol::tf_serving}) {
        if (speaks == protocol::tf_serving && text == R"({"outputs":[1,2]})") continue;  // that is an answer
        CHECK(watts_in(speaks, text, 2).has_error());
      }
    }
    CHECK(watts_in(protocol::v2, R"({"outputs":[{"data":[1]}]})", 2).error().code == errc::unsupported);
    CHECK(watts_in(protocol::v2, R"({"outputs":[{"data":[1,2,3]}]})", 2).error().code == errc::protocol);
    const auto nan = watts_in(protocol::tf_serving, R"({"outputs":[[NaN],[1]]})", 2);
    REQUIRE(nan.has_error());
    CHECK(nan.error().message == "the model says NaN or Infinity");
    // Deeply nested JSON does not make the reader recurse without bound.
    CHECK(watts_in(protocol::v2, std::string(100'000, '['), 1).has_error());
  }

  TEST_CASE("an answer of V2 says which version of the model answered, and a long version is cut") {
    const auto version = [](protocol speaks, const std::string& text) {
      const auto got = answer_in(speaks, R"({"model_version":)" + text + R"(,"outputs":[{"data":[1]}]})", 1);
      REQUIRE(got.has_value());
      return got->version;
    };
    CHECK(version(protocol::v2, R"("3")") == "3");
    CHECK(version(protocol::v2, "3").empty());
    CHECK(answer_in(protocol::v2, R"({"outputs":[{"data":[1]}]})", 1)->version.empty());
    CHECK(answer_in(protocol::tf_serving, R"({"model_version":"3","outputs":[1]})", 1)->version.empty());
    const std::string cut = version(protocol::v2, '"' + std::string(63, 'v') + "äh\"");
    CHECK_MESSAGE(cut == std::string(63, 'v'), "never inside a character");
  }

  TEST_CASE("of an object's members those beyond a bound are not read, so that chosen names cost nothing") {
    const std::string data = R"("outputs":[{"data":[1]}]})", error = R"("error":"none of yours"})";
    CHECK(watts_in(protocol::v2, "{" + members(100) + data, 1).has_value());
    CHECK(watts_in(protocol::v2, "{" + members(1'000) + data, 1).has_error());
    CHECK(refusal_in("{" + members(100) + error) == R"("none of yours")");
    CHECK(refusal_in("{" + members(1'000) + error).starts_with(R"("{"m0":0,)"));
  }

  TEST_CASE("a refusal is told in the server's words, in any of their forms") {
    CHECK(refusal_in(R"({"error":"Model x not found"})").find("Model x not found") != std::string::npos);
    CHECK(refusal_in(R"({"detail":[{"loc":["body"],"msg":"bad"}]})").find("bad") != std::string::npos);
    CHECK(refusal_in("Internal Server Error\n").find("Internal Server Error") != std::string::npos);
    CHECK(refusal_in(std::string(10'000, 'x')).size() < 200);
  }

  TEST_CASE("a curve that falls or stands is lifted, and one that no server has is refused") {
    std::vector<double> steps(points, 200);
    for (std::size_t i = 0; i < points; ++i) steps[i] += 10.0 * static_cast<double>(i / 20);
    steps[30] = 150;  // a dip, as in curves of tree models
    const auto lifted = curve_of(steps, 96);
    REQUIRE(lifted.has_value());
    CHECK(lifted->watts(96 * 0.30) == doctest::Approx(210));
    CHECK(lifted->watts(96) == doctest::Approx(250));
    const auto with = [](double what, std::size_t at) {
      std::vector<double> w(points);
      for (std::size_t i = 0; i < points; ++i) w[i] = 100 + static_cast<double>(i);
      w[at] = what;
      return curve_of(w, 96);
    };
    CHECK(with(100, 3).has_value());
    for (const double bad : {-1.0, 0.0, 1e6, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
      CAPTURE(bad);
      CHECK(with(bad, 3).has_error());
    }
    CHECK_MESSAGE(curve_of(std::vector<double>(points, 100), 96).has_error(),
                  "it does not depend on the load");
    std::vector<double> falls(points);
    for (std::size_t i = 0; i < points; ++i) falls[i] = 300 - static_cast<double>(i);
    CHECK(curve_of(falls, 96).has_error());
  }

  TEST_CASE(
      "defect: a curve that hardly rises up to half load is refused: its node would be free of charge") {
    const auto flat = [](double at_its_end, double for_each_percent) {
      std::vector<double> w(points);
      for (std::size_t i = 0; i < points; ++i) w[i] = 200 + for_each_percent * static_cast<double>(i);
      w.back() = at_its_end;
      return curve_of(w, 96);
    };
    CHECK(flat(400, 0.2).has_value());
    for (const auto& made : {flat(201, 0), flat(400, 0), flat(400, 0.1)}) {
      REQUIRE(made.has_error());
      CHECK(made.error().message.starts_with("the model's watts rise by less than 3 % up to half load"));
    }
  }

  TEST_CASE("defect: a curve that falls far and rises at its end again is refused, not made flat") {
    // Lifted to a curve that never falls, this would be 300 W at all loads but the last: a node whose load is
    // free of charge.
    std::vector<double> bent(points, 100);
    bent.front() = 300;
    bent.back() = 301;
    const auto made = curve_of(bent, 96);
    REQUIRE(made.has_error());
    CHECK(made.error().message == "the model's watts fall over much of the range of loads");
  }
}

}  // namespace model_question_test
