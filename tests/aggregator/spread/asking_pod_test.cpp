#include "aggregator/spread/asking_pod.hpp"

#include "aggregator/spread/rate.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace spread_asking_pod_test {

using namespace binnacle::spread;

namespace {

asking_pod with(const std::string& metadata, const std::string& tolerations = "[]") {
  return asking_pod_of(fmt::format(R"({{"metadata":{{"namespace":"shop"{}}},"spec":{{"tolerations":{}}}}})",
                                   metadata, tolerations));
}

}  // namespace

TEST_SUITE("aggregator/spread/asking_pod") {
  TEST_CASE("the annotation has two names, and the present one goes first") {
    CHECK(with(R"(,"annotations":{"waok8s.github.io/podspread-rate":"0.6"})").rate == "0.6");
    CHECK(with(R"(,"annotations":{"wao.bitmedia.co.jp/podspread-rate":"0.3"})").rate == "0.3");
    CHECK(
        with(
            R"(,"annotations":{"wao.bitmedia.co.jp/podspread-rate":"0.3","waok8s.github.io/podspread-rate":"0.6"})")
            .rate == "0.6");
    CHECK(with(R"(,"annotations":{"other":"1"})").rate.empty());
    CHECK(with(R"(,"labels":{"waok8s.github.io/podspread-rate":"0.6"})").rate.empty());
    CHECK(with(R"(,"annotations":{"waok8s.github.io/podspread-rate":0.6})").rate.empty());
  }

  TEST_CASE("who chooses the names of thousands of annotations gets no more than the first ones read") {
    std::string many;
    for (int i = 0; i < 5'000; ++i) many += fmt::format(R"("a{}":"",)", i);
    const std::string rate = R"("waok8s.github.io/podspread-rate":"0.6")";
    CHECK(with(R"(,"annotations":{)" + rate + "," + many + R"("z":""})").rate == "0.6");
    CHECK(with(R"(,"annotations":{)" + many + rate + "}").rate.empty());
    const std::string tolerates = R"([{"key":"node-role.kubernetes.io/control-plane","operator":"Exists"}])";
    CHECK(with(R"(,"annotations":{)" + many + rate + "}", tolerates).to_control_plane);
  }

  TEST_CASE("of an annotation that is longer than any rate its beginning is kept, and it counts as none") {
    const auto rate = [](const std::string& text) {
      return with(fmt::format(R"(,"annotations":{{"waok8s.github.io/podspread-rate":"{}"}})", text)).rate;
    };
    const std::string longest = "0." + std::string(30, '5');
    CHECK(rate(longest) == longest);
    CHECK(parse_rate(rate(longest)).has_value());
    CHECK(rate(longest + "5") == longest + "…");
    CHECK_FALSE(parse_rate(rate(longest + "5")).has_value());
    CHECK(rate(std::string(31, 'x') + "ä" + std::string(100'000, 'x')) == std::string(31, 'x') + "…");
  }

  TEST_CASE("only the ReplicaSet that controls the pod counts") {
    const std::string set = R"("kind":"ReplicaSet","name":"web-7d","uid":"u7")";
    const auto pod =
        with(R"(,"ownerReferences":[{"kind":"Node","name":"n","uid":"u1","controller":false},{)" + set +
             R"(,"controller":true}])");
    CHECK(pod.set == "web-7d");
    CHECK(pod.set_uid == "u7");
    CHECK(with(",\"ownerReferences\":[{" + set + "}]").set.empty());
    CHECK(with(",\"ownerReferences\":[{" + set + R"(,"controller":false}])").set.empty());
    CHECK(with(R"(,"ownerReferences":[{"kind":"StatefulSet","name":"db","uid":"u2","controller":true}])")
              .set.empty());
  }

  TEST_CASE("a pod tolerates the control plane as Kubernetes matches tolerations") {
    const std::string key = R"("key":"node-role.kubernetes.io/control-plane")";
    for (const std::string& t :
         {"{" + key + R"(,"operator":"Exists","effect":"NoSchedule"})",
          "{" + key + R"(,"operator":"Exists"})", "{" + key + R"(,"effect":"NoSchedule"})",
          std::string(R"({"operator":"Exists"})")}) {
      CAPTURE(t);
      CHECK(with("", "[" + t + "]").to_control_plane);
    }
    for (const std::string& t :
         {"{" + key + R"(,"operator":"Exists","effect":"NoExecute"})",
          "{" + key + R"(,"operator":"Equal","value":"yes","effect":"NoSchedule"})",
          std::string(R"({"key":"node.kubernetes.io/not-ready","operator":"Exists"})"), std::string("{}")}) {
      CAPTURE(t);
      CHECK_FALSE(with("", "[" + t + "]").to_control_plane);
    }
  }

  TEST_CASE("text that is no pod asks for nothing") {
    for (const char* text :
         {"", "[]", "{", "null", R"({"metadata":7,"spec":[]})",
          R"({"metadata":{"annotations":[],"ownerReferences":{}},"spec":{"tolerations":{}}})"}) {
      CAPTURE(text);
      const auto pod = asking_pod_of(text);
      CHECK(pod.rate.empty());
      CHECK(pod.set.empty());
      CHECK_FALSE(pod.to_control_plane);
    }
    CHECK_FALSE(may_ask(R"({"metadata":{"annotations":{"podspread":"1"}}})"));
    CHECK(may_ask(R"({"metadata":{"annotations":{"waok8s.github.io/podspread-rate":"1"}}})"));
  }
}

}  // namespace spread_asking_pod_test
