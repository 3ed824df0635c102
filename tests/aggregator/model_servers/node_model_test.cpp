#include "aggregator/model_servers/node_model.hpp"

#include "aggregator/store/warehouse.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <map>

namespace node_model_test {

using namespace binnacle;
using namespace binnacle::model_servers;
using policy::cpu_format;

using label_map = std::map<std::string, std::string, std::less<>>;

/// The labels of a node in WAO's first version.
label_map wao_v1() {
  return {{"tensorflow/host", "10.0.0.7"},
          {"tensorflow/port", "8500"},
          {"tensorflow/name", "konohana"},
          {"tensorflow/version", "1218"},
          {"tensorflow/signature", "konohana"},
          {"ambient/min", "15"},
          {"ambient/max", "35"},
          {"cpu1/min", "20"},
          {"cpu1/max", "90"},
          {"cpu2/min", "20"},
          {"cpu2/max", "90"}};
}

label_look_up in(const label_map& labels) {
  return [&labels](std::string_view key) -> std::optional<std::string_view> {
    const auto at = labels.find(key);
    return at == labels.end() ? std::nullopt : std::optional<std::string_view>(at->second);
  };
}

std::optional<result<node_model>> read(const label_map& labels) { return model_by_labels(in(labels)); }

TEST_SUITE("aggregator/model_servers/node_model") {
  TEST_CASE("labels of WAO's first version name the model, asked by gRPC as WAO does") {
    const auto m = read(wao_v1());
    REQUIRE(m);
    REQUIRE(m->has_value());
    CHECK((*m)->model.text() == "grpc://10.0.0.7:8500/v1/models/konohana/versions/1218");
    CHECK((*m)->model.signature == "konohana");
    CHECK((*m)->shares->at(0) == span{15, 35});
    CHECK((*m)->shares->at(2) == span{20, 90});
    CHECK_FALSE(read({{"tensorflow/name", "konohana"}}));
    label_map other = wao_v1();
    other["tensorflow/port"] = "9000";
    CHECK(read(other)->value().model.text() == "grpc://10.0.0.7:9000/v1/models/konohana/versions/1218");
    other["tensorflow/port"] = "8501";
    CHECK_MESSAGE(
        read(other)->value().model.text() == "http://10.0.0.7:8501/v1/models/konohana/versions/1218:predict",
        "the usual port of the REST API");
  }

  TEST_CASE("without version and signature the server's own count") {
    label_map labels = wao_v1();
    labels.erase("tensorflow/version");
    labels.erase("tensorflow/signature");
    const auto m = read(labels);
    CHECK(m->value().model.version.empty());
    CHECK(m->value().model.signature.empty());
    CHECK(m->value().remark.empty());
    labels["tensorflow/port"] = "8501";
    CHECK(read(labels)->value().model.path == "/v1/models/konohana:predict");
  }

  TEST_CASE("defect: a version that cannot be read is not taken for the newest one without a word") {
    label_map labels = wao_v1();
    CHECK(read(labels)->value().remark.empty());
    for (const std::string version : {"v1101", "newest", "1.2", "-1", "1234567890123456789"}) {
      CAPTURE(version);
      labels["tensorflow/version"] = version;
      const node_model m = read(labels)->value();
      CHECK_MESSAGE(m.model.version.empty(), "as in WAO");
      CHECK(m.remark == "the label tensorflow/version is \"" + version +
                            "\", which is no number of a version, so that the newest one is asked");
    }
  }

  TEST_CASE("a label that is missing or wrong is named") {
    for (const std::string key : {"tensorflow/name", "ambient/min", "ambient/max", "cpu1/min", "cpu2/max"}) {
      CAPTURE(key);
      label_map labels = wao_v1();
      labels.erase(key);
      const auto m = read(labels);
      REQUIRE(m->has_error());
      CHECK(m->error().message.find(key) != std::string::npos);
    }
    label_map labels = wao_v1();
    labels["ambient/max"] = "warm";
    CHECK(read(labels)->error().message.find("ambient/max") != std::string::npos);
    labels["ambient/max"] = "15";
    CHECK(read(labels)->error().message.find("are equal") != std::string::npos);
    labels["ambient/max"] = "5";
    CHECK_MESSAGE(read(labels)->has_value(), "the scale turns over, as with WAO");
    for (const std::string port : {"", "0", "99999", "x"}) {
      CAPTURE(port);
      labels = wao_v1();
      labels["tensorflow/port"] = port;
      CHECK(read(labels)->has_error());
    }
  }

  TEST_CASE("defect: of several wrong spans only the first was named") {
    label_map labels = wao_v1();
    labels["ambient/max"] = "15";
    labels["cpu2/min"] = "cool";
    CHECK(read(labels)->error().message ==
          "the labels ambient/min and ambient/max are equal, and the label cpu2/min is \"cool\", which is no "
          "number");
  }

  TEST_CASE("of labels with wrong spans the server is known, and what is wrong with its version") {
    label_map labels = wao_v1();
    CHECK(read_labels(in(labels))->value().spans->at(1) == span{20, 90});
    labels.erase("cpu1/max");
    labels["tensorflow/version"] = "v7";
    const labelled_model said = read_labels(in(labels))->value();
    CHECK(said.spans.error().message == "the label cpu1/max is missing");
    CHECK(said.model.server() == "10.0.0.7:8500");
    CHECK(said.remark.find("tensorflow/version is \"v7\"") != std::string::npos);
    CHECK(read(labels)->error().message == "the label cpu1/max is missing");
    CHECK_FALSE(read_labels(in({{"ambient/min", "15"}})));
    labels.erase("tensorflow/name");
    CHECK(read_labels(in(labels))->error().message == "the label tensorflow/name is missing");
  }

  node_model v2() {
    node_model m;
    m.model = *v2_model("http://h:1/v2/models/pc/infer");
    return m;
  }

  TEST_CASE("inputs are rounded, stay while they wander between two steps, and move when they have") {
    readings r;
    r.inlet = 21.6;
    r.pressure = 3.2;
    const question first = question_of(v2(), r, 96, cpu_format::percent, nullptr);
    CHECK(first.others[0] == 22);
    CHECK(first.others[1] == 3);
    CHECK(first.assumed == 0);
    CHECK(first.count == 2);
    for (const double inlet : {21.3, 22.0, 22.7}) {
      CAPTURE(inlet);
      r.inlet = inlet;
      CHECK(question_of(v2(), r, 96, cpu_format::percent, &first) == first);
    }
    r.inlet = 22.8;
    CHECK(question_of(v2(), r, 96, cpu_format::percent, &first).others[0] == 23);
    CHECK(question_of(v2(), r, 96, cpu_format::raw, nullptr).top == 96);
    CHECK(question_of(v2(), r, 96, cpu_format::percent, nullptr).top == 100);
  }

  TEST_CASE("what nobody measures has a typical value, and is marked; what an object fixes is not") {
    const question q = question_of(v2(), {}, 96, cpu_format::percent, nullptr);
    CHECK(q.others[0] == 22);
    CHECK(q.others[1] == 5);
    CHECK(q.assumed == 3);
    node_model fake = v2();
    fake.inlet = 15.5;
    fake.pressure = 7.5;
    readings r;
    r.inlet = 40;
    const question fixed = question_of(fake, r, 96, cpu_format::percent, nullptr);
    CHECK(fixed.others[0] == 16);
    CHECK(fixed.others[1] == 8);
    CHECK(fixed.assumed == 0);
  }

  TEST_CASE("a machine with one socket is asked about with a typical share for the second") {
    readings r;
    r.inlet = 25;
    r.cpu1 = 55;
    const question q = question_of(read(wao_v1())->value(), r, 16, cpu_format::raw, nullptr);
    CHECK_MESSAGE(q.top == 1, "its first version knows only shares");
    CHECK(q.count == 3);
    CHECK(q.others[0] == doctest::Approx(0.5));
    CHECK(q.others[1] == doctest::Approx(0.5));
    CHECK(q.others[2] == doctest::Approx(0.5));
    CHECK(q.assumed == 4);
  }

  TEST_CASE("a temperature outside of what a model was trained at counts as the nearer end, and is said") {
    const node_model v1 = read(wao_v1())->value();  // the inlet from 15 to 35 °C, processors from 20 to 90 °C
    const auto asked = [](const node_model& m, const readings& r) {
      return question_of(m, r, 16, cpu_format::percent, nullptr).others;
    };
    readings r{.inlet = 500, .cpu1 = -40, .cpu2 = 55, .pressure = {}};
    CHECK(asked(v1, r) == std::array<double, 3>{1, 0, 0.5});
    const auto said = limits_of(v1, r);
    REQUIRE(said.size() == 2);
    CHECK(said[0] ==
          "the inlet temperature of its node is outside of 15 to 35 °C, the span of its labels, so that the "
          "nearer end stands for it");
    CHECK(said[1].starts_with("the first processor's temperature of its node is outside of 20 to 90 °C"));
    SUBCASE("a little beyond the end is not worth a word") {
      r = {.inlet = 36, .cpu1 = 15, .cpu2 = 96, .pressure = {}};
      CHECK(asked(v1, r) == std::array<double, 3>{1, 0, 1});
      CHECK(limits_of(v1, r).empty());
    }
    SUBCASE("nor is what nobody measures") { CHECK(limits_of(v1, {}).empty()); }
    SUBCASE("a scale that is turned over has ends, too") {
      label_map labels = wao_v1();
      labels["ambient/min"] = "35";
      labels["ambient/max"] = "15";
      const node_model turned = read(labels)->value();
      r = {.inlet = 10, .cpu1 = {}, .cpu2 = {}, .pressure = {}};
      CHECK(asked(turned, r)[0] == 1);
      CHECK(limits_of(turned, r).at(0).find("15 to 35 °C") != std::string::npos);
    }
    SUBCASE("the second version names no span, and no server is made for a boiling inlet") {
      r = {.inlet = 127, .cpu1 = {}, .cpu2 = {}, .pressure = 3};
      CHECK(asked(v2(), r)[0] == 45);
      CHECK(limits_of(v2(), r).at(0).find("outside of 5 to 45 °C, for which servers") != std::string::npos);
      r.inlet = -127;
      CHECK(asked(v2(), r)[0] == 5);
      CHECK(limits_of(v2(), r).size() == 1);
      r.inlet = 40;
      CHECK(asked(v2(), r)[0] == 40);
      CHECK(limits_of(v2(), r).empty());
    }
  }

  TEST_CASE("readings come from the node's series") {
    store::warehouse all{{.nodes = 10}, {}};
    const instant now = store::at_s(1000);
    const auto id = *all.node("a");
    auto c = store::catalog_builder().group("os", 10'000).series("host_inlet_temperature_celsius", {}, -1);
    c.series("bmc_cpu_temperature_celsius", {{"sensor", "CPU1"}})
        .series("bmc_cpu_temperature_celsius", {{"sensor", "CPU2"}});
    c.series("delta_p", {}, -2);
    const wire::catalog announced = c;
    REQUIRE(all.set_catalog(id, announced, now).has_value());
    CHECK_FALSE(readings_of(*all.cells(id), now).inlet);
    REQUIRE(all.apply(id, store::batch_at(announced, now, {{0, 215}, {1, 51}, {2, 47}, {3, 320}}),
                      duration::zero(), now)
                .has_value());
    const readings r = readings_of(*all.cells(id), now);
    CHECK(*r.inlet == doctest::Approx(21.5));
    CHECK(*r.cpu1 == 51);
    CHECK(*r.cpu2 == 47);
    CHECK(*r.pressure == doctest::Approx(3.2));
    // The first processor's sensor is silent.
    const auto other = *all.node("b");
    REQUIRE(all.set_catalog(other, announced, now).has_value());
    REQUIRE(all.apply(other, store::batch_at(announced, now, {{2, 47}}), duration::zero(), now).has_value());
    const readings half = readings_of(*all.cells(other), now);
    CHECK_FALSE(half.cpu1);
    CHECK(*half.cpu2 == 47);
  }
}

}  // namespace node_model_test
