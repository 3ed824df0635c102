#include "aggregator/custom_metrics/face.hpp"
#include "tests/aggregator/custom_metrics/house.hpp"
#include "tests/aggregator/store/nodes.hpp"
#include "tests/support/whole.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace face_bounds_test {

using namespace binnacle;
using namespace binnacle::custom_metrics;
using namespace binnacle::custom_metrics::test;

TEST_SUITE("aggregator/custom_metrics/face/bounds") {
  TEST_CASE_FIXTURE(house, "a large namespace takes several slices, and pods that come and go do no harm") {
    const questions::selector::look_up none;
    std::vector<std::string> names;
    for (int i = 1000; i < 3000; ++i) names.push_back("pod-" + std::to_string(i));
    std::vector<pod> all;
    for (const std::string& name : names) all.push_back({"ops", name, "", "n1", none});
    face_sources s = sources();
    s.pods = pods_among(all);
    face with_pods(nodes, std::move(s));
    const auto list = with_pods.answer(request_for(base2 + "/namespaces/ops/pods/*/rapl_power_watts"));
    CHECK(list->step());
    std::vector<pod> later;  // without the first and the last
    for (std::size_t i = 1; i + 1 < all.size(); ++i) later.push_back(all[i]);
    all.swap(later);
    int steps = 1;
    while (list->step()) ++steps;
    CHECK(steps >= 3);
    const auto pieces = list->take().body;
    CHECK_MESSAGE(pieces.size() > 1, "no text doubles its memory as it grows");
    const std::string body = std::accumulate(pieces.begin(), pieces.end(), std::string());
    const std::string head = R"("kind":"Pod","namespace":"ops","name":")";
    std::size_t found = 0;
    for (std::size_t at = 0; (at = body.find(head + names[found], at)) != std::string::npos; ++at)
      if (++found == names.size()) break;
    CHECK(found == names.size() - 1);
    CHECK(with_pods.counted().items == names.size() - 1);
    CHECK(with_pods.counted().lists == 1);
  }

  TEST_CASE_FIXTURE(house,
                    "attack: a slice counts the labels that a selector looks through, and not just pods") {
    const questions::selector::look_up none = [](std::string_view) { return std::nullopt; };
    std::vector<std::string> names;
    for (int i = 100; i < 500; ++i) names.push_back("pod-" + std::to_string(i));
    std::vector<pod> all;
    for (const std::string& name : names) all.push_back({"ops", name, "", "n1", none, "", 14'000});
    face_sources s = sources();
    s.pods = pods_among(all);
    face with_pods(nodes, std::move(s));
    const auto steps = [&](const std::string& selector) {
      const auto list =
          with_pods.answer(request_for(base2 + "/namespaces/ops/pods/*/rapl_power_watts" + selector));
      int n = 1;
      while (list->step()) ++n;
      return n;
    };
    CHECK(steps("") == 1);
    CHECK(steps("?labelSelector=!a,!b") >= 12);
  }

  TEST_CASE_FIXTURE(house, "attack: lists that repeat a long selector have a bound, each and all together") {
    const questions::selector::look_up none;
    std::vector<std::string> names;
    for (int i = 100'000; i < 145'000; ++i) names.push_back(std::string(240, 'p') + std::to_string(i));
    std::vector<pod> all;
    for (const std::string& name : names) all.push_back({"ops", name, "", "n1", none});
    face_sources s = sources();
    s.pods = pods_among(all);
    face with_pods(nodes, std::move(s));
    const auto list = [&](int keys) {
      std::string selector;
      for (int i = 0; i < keys; ++i)
        selector += (i == 0 ? "!" : ",!") + std::string(60, 'k') + std::to_string(i);
      return with_pods.answer(
          request_for(base2 + "/namespaces/ops/pods/*/rapl_power_watts?metricLabelSelector=" + selector));
    };
    const auto too_long = support::whole(list(12));
    CHECK(too_long.status == 400);
    CHECK(
        too_long.body.at(0).find("the list is longer than 64 MiB: choose fewer objects by a labelSelector") !=
        std::string::npos);
    CHECK_MESSAGE(support::whole(list(1)).status == 200, "what the first one held is free again");
    std::vector<std::unique_ptr<http::slices>> running;
    for (int i = 0; i < 3; ++i) running.push_back(list(8));
    std::map<unsigned, int> answers;
    for (const auto& one : running) {
      while (one->step()) {
      }
    }
    for (const auto& one : running) ++answers[one->take().status];
    CHECK(answers[200] == 2);
    CHECK(answers[503] == 1);
    running.clear();
    CHECK(support::whole(list(8)).status == 200);
  }

  TEST_CASE_FIXTURE(house, "finding out what a metric means at many nodes takes several slices") {
    for (std::uint32_t i = 4; i < 104; ++i) nodes.node(store::node_id{i}, "worker-" + std::to_string(i));
    face_sources s = sources();
    s.ask = [](std::string_view, const questions::selector&) -> questions::question {
      return [](const store::node_view&, instant) {
        questions::reading r;
        r.value.reason = absence::missing;
        r.looked_at = 400;
        return r;
      };
    };
    face with_pod_series(nodes, std::move(s));
    const auto list = with_pod_series.answer(request_for(base2 + "/nodes/*/rapl_power_watts"));
    int steps = 1;
    while (list->step()) ++steps;
    CHECK(steps >= 8);  // 41,600 series
  }

  TEST_CASE_FIXTURE(house, "questions about single nodes with many series have their turn one at a time") {
    auto c = store::catalog_builder().group("textfile");
    for (int i = 0; i < 2'001; ++i) c.series("load", {{"unit", std::to_string(i)}});
    nodes.apply({.id = store::node_id{1},
                 .name = "n1",
                 .cells = std::make_shared<store::row>(
                     std::make_shared<const store::shape>(store::make_shape(c, {})->what))});
    int looks = 0;
    const questions::selector::look_up none;
    const std::vector<pod> all{{"ops", "a", "u1", "n1", none}};
    face_sources s = sources();
    s.pods = pods_among(all);
    s.ask = [this, &looks](std::string_view, const questions::selector&) -> questions::question {
      return [this, &looks](const store::node_view& node, instant) -> questions::reading {
        ++looks;
        return questions::reading{watts.at(node.name), seconds(1)};
      };
    };
    face asked_often(nodes, std::move(s));
    const auto begin = [&](const std::string& what) {
      return asked_often.answer(request_for(base2 + what + "/rapl_power_watts"));
    };
    const auto first = begin("/nodes/n1");
    auto second = begin("/namespaces/ops/pods/a");
    const auto third = begin("/nodes/n1");
    CHECK(looks == 0);
    // One round of the loop after the other.
    CHECK(first->step());
    CHECK(second->step());
    CHECK(third->step());
    CHECK(looks == 1);
    CHECK_FALSE(first->step());
    CHECK(second->step());
    CHECK(third->step());
    CHECK(looks == 2);
    CHECK(first->take().status == 200);
    // Nobody waits for a node with few series, nor does it wait.
    CHECK_FALSE(begin("/nodes/n2")->step());
    CHECK(looks == 3);
    second.reset();  // who asked has gone, in their turn
    CHECK(third->step());
    CHECK(looks == 4);
    CHECK_FALSE(third->step());
    const http::response last = third->take();
    CHECK(last.status == 200);
    CHECK(last.body.at(0).find(R"("value":"100500m")") != std::string::npos);
  }

  TEST_CASE_FIXTURE(house,
                    "thousands of new names are listed in several turns, and hold up no list of values") {
    store::catalog_builder c;
    c.group("textfile");
    for (int i = 0; i < 10'000; ++i) c.series("node_q_" + std::to_string(100'000 + i));
    nodes.apply({.id = store::node_id{3},
                 .name = "n4",
                 .cells = std::make_shared<store::row>(
                     std::make_shared<const store::shape>(store::make_shape(c, {})->what))});
    const auto begin = [this](const std::string& target) { return tested.answer(request_for(target)); };
    CHECK_FALSE(begin(base2 + "/nodes/*/rapl_power_watts")->step());
    CHECK_FALSE(begin(base2 + "/nodes/*/node_q_109999")->step());
    const auto one = begin(base2), other = begin(base2);
    int turns = 0;
    for (bool more = true; more; ++turns) {
      more = one->step();
      more = other->step() || more;
    }
    CHECK(turns > 10);
    const std::string list = one->take().body.at(0);
    CHECK(list == other->take().body.at(0));
    CHECK(list.find("\"nodes/q_100000\"") != std::string::npos);
    CHECK(list.find("\"nodes/rapl_power_watts\"") != std::string::npos);
  }

  TEST_CASE_FIXTURE(house, "a metric of the last of many nodes, or of none, is looked for in several turns") {
    for (std::uint32_t i = 4; i < 1'204; ++i) nodes.node(store::node_id{i}, "worker-" + std::to_string(i));
    const wire::catalog c = store::catalog_builder().group("textfile").series("inlet_celsius");
    nodes.apply({.id = store::node_id{1'204},
                 .name = "z",
                 .cells = std::make_shared<store::row>(
                     std::make_shared<const store::shape>(store::make_shape(c, {})->what))});
    struct row {
      std::string target;
      unsigned code;
    };
    const row rows[] = {{"/nodes/*/inlet_celsius", 200}, {"/nodes/*/nope", 404}, {"/nodes/n4/nope", 404}};
    for (const row& asked_for : rows) {
      CAPTURE(asked_for.target);
      const auto list = tested.answer(request_for(base2 + asked_for.target));
      CHECK(list->step());
      CHECK(support::whole(*list).status == asked_for.code);
    }
  }
}

}  // namespace face_bounds_test
