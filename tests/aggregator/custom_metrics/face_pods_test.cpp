#include "aggregator/custom_metrics/face.hpp"
#include "tests/aggregator/custom_metrics/house.hpp"
#include "tests/aggregator/store/nodes.hpp"
#include "tests/support/whole.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace face_pods_test {

using namespace binnacle;
using namespace binnacle::custom_metrics;
using namespace binnacle::custom_metrics::test;

TEST_SUITE("aggregator/custom_metrics/face/pods") {
  TEST_CASE_FIXTURE(house, "a pod has its node's value, chosen by the pods' labels, in the pods' namespace") {
    const auto app = [](const char* name) {
      return [name](std::string_view key) {
        return key == "app" ? std::optional<std::string_view>(name) : std::nullopt;
      };
    };
    const questions::selector::look_up web = app("web"), db = app("db");
    const std::vector<pod> all{
        {"ops", "a", "u1", "n1", web},        {"ops", "b", "u2", "n2", db},
        {"ops", "c", "u3", "n2", web},        {"ops", "d", "u4", "n3", web},
        {"ops", "e", "u5", "elsewhere", web}, {"ops", "f", "u6", "n1", nullptr}};  // its labels are not known
    std::string because;
    face_sources s = sources();
    s.pods = pods_among(all);
    s.pods->unknown_because = [&] { return because; };
    face with_pods(nodes, std::move(s));
    const auto ask = [&](const std::string& target) {
      return support::whole(with_pods.answer(request_for(target)));
    };
    const std::string in = base2 + "/namespaces/ops/pods/";
    CHECK(
        ask(in + "*/rapl_power_watts?labelSelector=app%3Dweb").body[0] ==
        R"({"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2","metadata":{},"items":[)"
        R"({"describedObject":{"kind":"Pod","namespace":"ops","name":"a","apiVersion":"/v1"},"metric":{"name":"rapl_power_watts","selector":null},)"
        R"("timestamp":"2026-01-01T11:59:50Z","windowSeconds":1,"value":"100500m"},)"
        R"({"describedObject":{"kind":"Pod","namespace":"ops","name":"c","apiVersion":"/v1"},"metric":{"name":"rapl_power_watts","selector":null},)"
        R"("timestamp":"2026-01-01T11:59:50Z","windowSeconds":1,"value":"20"}]})"
        "\n");
    CHECK(ask(in + "b/rapl_power_watts").body[0].find(R"("name":"b")") != std::string::npos);
    CHECK(ask(in + "*/rapl_power_watts").body[0].find(R"("name":"f")") != std::string::npos);
    for (const char* selector : {"app", "!app", "app%21%3Dweb"}) {
      CAPTURE(selector);
      const auto chosen = ask(in + "*/rapl_power_watts?labelSelector=" + selector);
      CHECK(chosen.status == 200);
      CHECK(chosen.body[0].find(R"("name":"f")") == std::string::npos);
    }
    CHECK(ask(base1 + "/namespaces/other/pods/*/rapl_power_watts").body[0].find(R"("items":[])") !=
          std::string::npos);
    const auto stale = ask(in + "d/rapl_power_watts");
    CHECK(stale.status == 404);
    CHECK(stale.body[0].find("no value (stale: last read 15.0s ago) on node n3") != std::string::npos);
    CHECK(ask(in + "e/rapl_power_watts").body[0].find("on node elsewhere") != std::string::npos);
    CHECK(ask(in + "nope/rapl_power_watts").body[0].find("no such pod has a node") != std::string::npos);
    CHECK(ask(in + "*/nope").status == 404);
    CHECK(ask(base2).body[0].find(R"({"name":"pods/rapl_power_watts","singularName":"","namespaced":true)") !=
          std::string::npos);
    because = "not read yet";
    CHECK(ask(in + "*/rapl_power_watts").status == 503);
  }

  TEST_CASE_FIXTURE(house, "with a selector of series, too, a pod has its own value and not its node's") {
    const wire::catalog c = store::catalog_builder().group("scrape").series(
        "gpu", {{"namespace", "ops"}, {"pod", "a"}, {"container", "main"}});
    auto cells =
        std::make_shared<store::row>(std::make_shared<const store::shape>(store::make_shape(c, {})->what));
    cells->set_value(0, 10);
    cells->set_read(0, at_s(999));
    nodes.apply({.id = store::node_id{1}, .name = "n1", .cells = cells});
    const questions::selector::look_up none;
    const std::vector<pod> all{{"ops", "a", "u1", "n1", none}, {"ops", "b", "u2", "n1", none}};
    face_sources s = sources();
    s.pods = pods_among(all);
    s.ask = [](std::string_view, const questions::selector&) -> questions::question {
      return [](const store::node_view&, instant) {
        return questions::reading{at({90, 0}, 999, 1010), seconds(1)};  // the node's, of a busy neighbour
      };
    };
    face with_pods(nodes, std::move(s));
    const std::string target = base2 + "/namespaces/ops/pods/*/gpu?metricLabelSelector=container%3Dmain";
    const std::string body = support::whole(with_pods.answer(request_for(target))).body.at(0);
    CHECK(body.find(R"("name":"a")") != std::string::npos);
    CHECK(body.find(R"("value":"10")") != std::string::npos);
    CHECK(body.find(R"("name":"b")") == std::string::npos);
    CHECK(body.find(R"("value":"90")") == std::string::npos);
  }

  TEST_CASE_FIXTURE(house, "one pod is found by its name, whatever else the namespace holds") {
    const questions::selector::look_up none;
    const std::vector<pod> all{{"ops", "a", "u1", "n1", none}};
    face_sources s = sources();
    s.pods = pods_among(all);
    int listings = 0;
    s.pods->of = [&listings](auto&&...) { ++listings; };
    face with_pods(nodes, std::move(s));
    CHECK(support::whole(with_pods.answer(request_for(base2 + "/namespaces/ops/pods/a/rapl_power_watts")))
              .status == 200);
    CHECK(listings == 0);
  }
}

}  // namespace face_pods_test
