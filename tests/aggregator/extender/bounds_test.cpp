// The cost of large and hostile requests.
#include "tests/aggregator/extender/fleet.hpp"
#include "tests/aggregator/extender/go_args.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <malloc.h>

namespace extender_bounds_test {

using namespace binnacle;
using namespace binnacle::test;

namespace {

policy::policy power() {
  policy::policy p;
  p.key = {"default", "power"};
  p.strategies.push_back(fleet::dontschedule({fleet::rule("watts", policy::comparison::greater_than, 60)}));
  p.strategies.push_back(fleet::scheduleonmetric(fleet::rule("watts", policy::comparison::less_than, 0)));
  return p;
}

std::size_t in_use() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace

TEST_SUITE("aggregator/extender/bounds") {
  TEST_CASE("100,000 names are answered, one more is 413") {
    fleet f;
    f.value("node-99999", "watts", {90, 0});
    f.publish(power());
    std::vector<std::string> names;
    for (int i = 0; i < 100'000; ++i) names.push_back(fmt::format("node-{}", i));
    const auto answer = f.filter(names_args(pod_json("p", "power"), names));
    CHECK(answer.status == 200);
    const auto json = boost::json::parse(answer.body).as_object();
    CHECK(json.at("NodeNames").as_array().size() == 99'999);
    CHECK(json.at("FailedAndUnresolvableNodes").as_object().size() == 1);
    const auto* r = f.decisions.find({}).at(0);
    CHECK(r->asked == 100'000);
    CHECK(r->unknown == 99'999);
    CHECK(r->strangers.size() == 256);
    CHECK(r->bytes() < 8u << 20);
    CHECK(
        boost::json::parse(f.prioritize(names_args(pod_json("p", "power"), names)).body).as_array().size() ==
        100'000);

    names.push_back("one-more");
    CHECK(f.filter(names_args(pod_json("p", "power"), names)).status == 413);
  }

  TEST_CASE("full nodes: memory is what survives and little more") {
    fleet f;
    f.publish(power());
    std::vector<std::string> nodes;
    for (int i = 0; i < 2000; ++i) {
      const std::string name = fmt::format("node-{}", i);
      f.value(name, "watts", {i % 4 == 0 ? 50 : 90, 0});
      nodes.push_back(node_json(name, 58));
    }
    const std::string body = nodes_args(pod_json("p", "power"), nodes);
    REQUIRE(body.size() > 20u << 20);
    f.face();
    const std::size_t before = in_use();
    std::size_t peak = 0;
    auto call = f.face().begin(decision::verb::filter, f.request);
    for (std::size_t at = 0; at < body.size(); at += 65536) {
      REQUIRE(call->consume(std::string_view(body).substr(at, 65536)));
      peak = std::max(peak, in_use() - before);
    }
    std::size_t survivors = 0;
    call->finish([&](http::response r) {
      peak = std::max(peak, in_use() - before);
      CHECK(r.status == 200);
      for (const auto& piece : r.body) survivors += piece.size();
    });
    CHECK(survivors < body.size() / 3);
    CHECK(peak < survivors + (4u << 20));
  }

  TEST_CASE("nodes that come before the Pod are kept up to a bound") {
    fleet f;
    f.settings.early_nodes = 10'000;
    const auto body = [](int n) {
      std::vector<std::string> nodes(static_cast<std::size_t>(n), node_json("x", 4));
      return R"({"Nodes":{"items":[)" + joined(nodes, [](const std::string& s) { return s; }) +
             R"(]},"Pod":)" + pod_json("p", "") + "}";
    };
    CHECK(f.filter(body(2)).status == 200);
    const auto answer = f.filter(body(20), 1000);
    CHECK(answer.status == 413);
    CHECK(answer.body.find("send the Pod first") != std::string::npos);
    CHECK(f.prioritize(body(20)).status == 200);  // prioritize keeps no nodes
  }

  TEST_CASE("a body over the limit is 413 with the limit in the sentence") {
    fleet f;
    f.settings.limits.bytes = 1000;
    const auto answer = f.filter(names_args(pod_json("p", ""), {std::string(2000, 'x')}));
    CHECK(answer.status == 413);
    CHECK(answer.body.find("larger than the limit of 1000 bytes") != std::string::npos);
  }

  TEST_CASE("the ring of decisions stays within its bounds under any load") {
    fleet f;
    f.decisions = decision::ring({200'000, 1000});
    std::vector<std::string> names;
    for (int i = 0; i < 3000; ++i) {
      names.push_back(fmt::format("node-{}", i));
      f.value(names.back(), "watts", {50, 0});
    }
    f.publish(power());
    const auto body = names_args(pod_json("p", "power"), names);
    for (int i = 0; i < 100; ++i) f.filter(body);
    CHECK(f.decisions.bytes() <= 200'000);
    CHECK(f.decisions.size() + f.decisions.dropped() == 100);
    const auto* r = f.decisions.find({}).at(0);
    CHECK(r->asked == 3000);
    CHECK(r->candidates.size() > 100);
    CHECK(r->candidates.size() < 3000);
  }
}

}  // namespace extender_bounds_test
