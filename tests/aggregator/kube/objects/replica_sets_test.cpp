#include "aggregator/kube/objects/replica_sets.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace replica_sets_test {

namespace {

using namespace binnacle;
using kube::replica_sets;

struct sets {
  replica_sets seen;
  void put(const std::string& name, const std::string& spec, const std::string& annotations = "{}",
           const std::string& uid = "u1") {
    const auto object = kube::parse_object(fmt::format(
        R"({{"metadata":{{"name":"{}","namespace":"shop","uid":"{}","annotations":{}}},"spec":{}}})", name,
        uid, annotations, spec));
    REQUIRE(object.has_value());
    seen.changed({"shop", name}, *object);
  }
};

}  // namespace

TEST_SUITE("aggregator/kube/objects/replica_sets") {
  TEST_CASE("replicas and the annotation are kept, under either of its names") {
    sets s;
    s.put("web", R"({"replicas":4})", R"({"waok8s.github.io/podspread-rate":"0.5"})");
    s.put("old", R"({"replicas":2})", R"({"wao.bitmedia.co.jp/podspread-rate":"1"})");
    s.put("plain", "{}");
    REQUIRE(s.seen.find("shop", "web") != nullptr);
    CHECK(s.seen.find("shop", "web")->replicas == 4);
    CHECK(s.seen.find("shop", "web")->rate == "0.5");
    CHECK(s.seen.find("shop", "web")->uid == "u1");
    CHECK(s.seen.find("shop", "old")->rate == "1");
    CHECK(s.seen.find("shop", "plain")->replicas == 1);  // Kubernetes' default
    CHECK(s.seen.find("other", "web") == nullptr);
    CHECK(s.seen.asking() == 2);
  }

  TEST_CASE("of an annotation of 256 KiB a few bytes are kept") {
    sets s;
    s.put("web", R"({"replicas":4})",
          fmt::format(R"({{"waok8s.github.io/podspread-rate":"{}"}})", std::string(256 << 10, '0')));
    REQUIRE(s.seen.find("shop", "web") != nullptr);
    CHECK(s.seen.find("shop", "web")->rate == std::string(32, '0') + "…");
  }

  TEST_CASE(
      "in a rolling update the Deployment's number counts, and not the step that the ReplicaSet is at") {
    sets s;
    s.put("web", R"({"replicas":1})", R"({"deployment.kubernetes.io/desired-replicas":"8"})");
    CHECK(s.seen.find("shop", "web")->replicas == 8);
    s.put("web", R"({"replicas":1})", R"({"deployment.kubernetes.io/desired-replicas":"many"})");
    CHECK(s.seen.find("shop", "web")->replicas == 1);
  }

  TEST_CASE("a ReplicaSet that wants no pods is not kept, and what is gone asks for nothing") {
    sets s;
    const std::string rate =
        R"({"waok8s.github.io/podspread-rate":"0.5","deployment.kubernetes.io/desired-replicas":"8"})";
    s.put("web", R"({"replicas":3})", rate);
    CHECK(s.seen.asking() == 1);
    s.put("web", R"({"replicas":3})", rate);
    CHECK(s.seen.asking() == 1);
    s.put("web", R"({"replicas":0})", rate);
    CHECK(s.seen.size() == 0);
    CHECK(s.seen.asking() == 0);
    s.put("web", R"({"replicas":3})", rate);
    s.put("web", R"({"replicas":3})");
    CHECK(s.seen.asking() == 0);
    s.put("web", R"({"replicas":3})", rate);
    s.seen.gone({"shop", "web"});
    s.seen.gone({"shop", "unknown"});
    CHECK(s.seen.asking() == 0);
    CHECK(s.seen.find("shop", "web") == nullptr);
    const boost::json::object nothing;
    s.seen.changed({"shop", "odd"}, nothing);
    CHECK(s.seen.size() == 0);
  }
}

}  // namespace replica_sets_test
