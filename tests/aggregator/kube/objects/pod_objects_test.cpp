#include "aggregator/kube/objects/pod_objects.hpp"

#include "common/async/network.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace pod_objects_test {

namespace {

using namespace binnacle;
using kube::pod_objects;

std::string told(std::vector<pod_objects::change> changes) {
  std::string out;
  for (const auto& c : changes) {
    const char* const names[] = {"placed", "ready", "unready", "gone"};
    out += fmt::format("{}{} {}@{}; ", c.before_us ? "before us: " : "", names[static_cast<int>(c.what)],
                       c.uid, c.node);
  }
  return out;
}

/// A cluster in which the labels of all pods have 4 KiB, or as much as is given.
struct labelled_pods {
  explicit labelled_pods(std::size_t bytes = 4096) : seen(bytes) {}
  pod_objects seen;
  void put(const std::string& name_space, const std::string& name, std::size_t bytes,
           const std::string& uid = "u1") {
    const std::string labels =
        bytes == 0 ? std::string() : fmt::format(R"("app":"{}")", std::string(bytes - 5, 'x'));
    const auto object = kube::parse_object(fmt::format(
        R"({{"metadata":{{"uid":"{}","labels":{{{}}}}},"spec":{{"nodeName":"n1"}}}})", uid, labels));
    REQUIRE(object.has_value());
    seen.changed({name_space, name}, *object);
  }
  bool has_labels(const char* name_space, const char* name) const {
    const auto* pod = seen.find({name_space, name});
    REQUIRE(pod != nullptr);
    CHECK(pod->without_labels != pod->labels.find("app").has_value());
    return pod->labels.find("app").has_value();
  }
};

struct pods {
  pod_objects seen;
  void put(const std::string& name, const std::string& uid, const std::string& node,
           const std::string& ready = "False") {
    const auto object = kube::parse_object(fmt::format(
        R"({{"metadata":{{"name":"{}","namespace":"ops","uid":"{}","labels":{{"app":"web","odd":7}}}},)"
        R"("spec":{{"nodeName":"{}"}},"status":{{"startTime":"2026-01-01T00:00:00Z",)"
        R"("conditions":[{{"type":"Initialized","status":"True"}},{{"type":"Ready","status":"{}"}}]}}}})",
        name, uid, node, ready));
    REQUIRE(object.has_value());
    seen.changed({"ops", name}, *object);
  }
};

TEST_SUITE("aggregator/kube/objects/pod_objects") {
  TEST_CASE("pods are found by the ReplicaSet that made them, also after they moved, left or were replaced") {
    pod_objects seen;
    const auto put = [&seen](const std::string& name, const std::string& uid, const std::string& set,
                             const std::string& more = "") {
      const auto object = kube::parse_object(fmt::format(
          R"({{"metadata":{{"name":"{}","namespace":"ops","uid":"{}"{},"ownerReferences":[)"
          R"({{"kind":"ReplicaSet","name":"web","uid":"{}","controller":true}}]}},"spec":{{"nodeName":"n1"}}}})",
          name, uid, more, set));
      REQUIRE(object.has_value());
      seen.changed({"ops", name}, *object);
    };
    const auto of = [&seen](const char* set) {
      const auto* made = seen.made_by(pod_objects::set_key(set));
      return made == nullptr ? 0 : made->size();
    };
    put("a", "u1", "s1");
    put("b", "u2", "s1");
    put("c", "u3", "s2");
    CHECK(of("s1") == 2);
    CHECK(of("s2") == 1);
    CHECK(of("") == 0);
    CHECK_FALSE(seen.find({"ops", "a"})->leaving);
    put("a", "u1", "s1", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")");
    CHECK(of("s1") == 2);
    CHECK(seen.find({"ops", "a"})->leaving);
    put("a", "u4", "s2");  // another pod of that name
    CHECK(of("s1") == 1);
    CHECK(of("s2") == 2);
    seen.gone({"ops", "b"});
    CHECK(of("s1") == 0);
  }

  TEST_CASE("a pod that leaves its ReplicaSet moves one other at most, however many there are") {
    constexpr int many = 200;
    pod_objects seen;
    const std::uint64_t set = pod_objects::set_key("s1");
    for (int i = 0; i < many; ++i) {
      const auto object = kube::parse_object(fmt::format(
          R"({{"metadata":{{"name":"p{0}","namespace":"ops","uid":"u{0}","ownerReferences":[)"
          R"({{"kind":"ReplicaSet","name":"web","uid":"s1","controller":true}}]}},"spec":{{"nodeName":"n1"}}}})",
          i));
      REQUIRE(object.has_value());
      seen.changed({"ops", fmt::format("p{}", i)}, *object);
    }
    for (int i = 0; i < many; ++i) {
      const auto before = *seen.made_by(set);
      seen.gone({"ops", fmt::format("p{}", i * 7 % many)});
      const auto* after = seen.made_by(set);
      REQUIRE((after == nullptr) == (i == many - 1));
      if (after == nullptr) continue;
      REQUIRE(after->size() == before.size() - 1);
      std::size_t moved = 0;
      for (std::size_t at = 0; at < after->size(); ++at) {
        moved += (*after)[at] != before[at];
        REQUIRE((*after)[at]->second.place_in_set == at);
      }
      REQUIRE(moved <= 1);
    }
  }

  TEST_CASE("the mirror of a static pod has the UID that the kubelet gave it, and no other pod's") {
    pod_objects seen;
    const auto static_uid = [&seen](const std::string& annotations) {
      const auto object = kube::parse_object(fmt::format(
          R"({{"metadata":{{"uid":"u1","annotations":{{{}}}}},"spec":{{"nodeName":"n1"}}}})", annotations));
      REQUIRE(object.has_value());
      seen.changed({"kube-system", "etcd-n1"}, *object);
      return seen.find({"kube-system", "etcd-n1"})->static_uid;
    };
    CHECK(static_uid(R"("kubernetes.io/config.mirror":"0123456789abcdef0123456789abcdef")") ==
          "0123456789abcdef0123456789abcdef");
    CHECK(static_uid(R"("kubernetes.io/config.mirror":"11111111-2222-3333-4444-555555555555")").empty());
    CHECK(static_uid("").empty());
  }

  TEST_CASE("pods beyond the bound are counted once each, whatever happens to them") {
    pods p;
    const boost::json::object nothing;
    for (std::size_t i = 0; i < pod_objects::most_pods; ++i)
      p.seen.changed({"ops", std::to_string(i)}, nothing);
    CHECK(p.seen.left_out() == 0);
    for (int i = 0; i < 3; ++i) p.put("late", "u1", "n1");
    CHECK(p.seen.left_out() == 1);
    p.put("later", "u2", "n1");
    CHECK(p.seen.left_out() == 2);
    p.seen.gone({"ops", "late"});
    p.put("late", "u3", "n1");  // another pod of that name
    CHECK(p.seen.left_out() == 3);
  }

  TEST_CASE("only pods that have a node and have not finished are asked for, by small pages") {
    const auto wanted = pod_objects::collection();
    CHECK(wanted.field_selector == "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed");
    CHECK(wanted.page < kube::reflector::usual_page);
  }

  TEST_CASE("what a pod asks for is told with its place: the load that no value shows yet") {
    pods p;
    const auto object = kube::parse_object(
        R"({"metadata":{"name":"web","namespace":"ops","uid":"u1"},"spec":{"nodeName":"node-a","overhead":{"cpu":"250m"},)"
        R"("containers":[{"resources":{"requests":{"cpu":"1500m"}}},{"resources":{"limits":{"cpu":2}}}]}})");
    REQUIRE(object.has_value());
    p.seen.changed({"ops", "web"}, *object);
    const auto told = p.seen.take();
    REQUIRE(told.size() == 1);
    CHECK(told[0].cores == doctest::Approx(3.75));
    CHECK(p.seen.find({"ops", "web"})->cores == doctest::Approx(3.75));
  }

  TEST_CASE("a pod's node, labels and start can be looked up, as long as it is there") {
    pods p;
    p.put("web", "u1", "node-a", "True");
    const auto* web = p.seen.find({"ops", "web"});
    REQUIRE(web != nullptr);
    CHECK(web->node == "node-a");
    CHECK(web->uid == "u1");
    CHECK(web->ready);
    CHECK(web->labels.find("app") == "web");
    CHECK_FALSE(web->labels.find("odd").has_value());
    CHECK_FALSE(web->without_labels);
    CHECK(web->started.has_value());
    p.seen.gone({"ops", "web"});
    CHECK(p.seen.find({"ops", "web"}) == nullptr);
  }

  TEST_CASE("a pod with too many bytes of labels is known without them, and is counted once") {
    labelled_pods p(pod_objects::most_labels_bytes);
    p.put("ops", "usual", 1000);
    p.put("ops", "most", pod_objects::most_label_bytes);
    CHECK(p.has_labels("ops", "most"));
    for (int i = 0; i < 3; ++i) p.put("ops", "huge", pod_objects::most_label_bytes + 1);
    CHECK_FALSE(p.has_labels("ops", "huge"));
    CHECK(p.has_labels("ops", "usual"));
    CHECK(p.seen.find({"ops", "huge"})->node == "n1");
    CHECK(p.seen.labels_left_out() == 1);
    CHECK(p.seen.without_labels() == 1);
    CHECK(p.seen.last_without_labels() == "ops/huge");
    p.put("ops", "huge", pod_objects::most_label_bytes + 1, "u2");  // another pod of that name
    CHECK(p.seen.labels_left_out() == 2);
    p.put("ops", "huge", 100, "u2");
    CHECK(p.has_labels("ops", "huge"));
    CHECK(p.seen.without_labels() == 0);
    p.put("ops", "huge", pod_objects::most_label_bytes + 1, "u2");
    p.seen.gone({"ops", "huge"});
    CHECK(p.seen.without_labels() == 0);
    CHECK(p.seen.labels_left_out() == 3);
  }

  TEST_CASE(
      "a namespace whose labels fill the room loses its longest ones, and no other namespace loses any") {
    labelled_pods p;
    p.put("shop", "a", 900);
    p.put("shop", "b", 300);
    p.put("crowd", "small", 100);
    for (int i = 0; i < 50; ++i) p.put("crowd", "large-" + std::to_string(i), 800);
    CHECK(p.has_labels("shop", "a"));
    CHECK(p.has_labels("shop", "b"));
    CHECK(p.has_labels("crowd", "small"));
    CHECK(p.seen.without_labels() == 47);
    CHECK(p.seen.labels_left_out() == 47);
    p.put("shop", "c", 900);  // the crowd makes room
    CHECK(p.has_labels("shop", "a"));
    CHECK(p.has_labels("shop", "c"));
    CHECK(p.has_labels("crowd", "small"));
    CHECK(p.seen.without_labels() == 48);
    for (int i = 0; i < 50; ++i) p.seen.gone({"crowd", "large-" + std::to_string(i)});
    CHECK(p.seen.without_labels() == 0);
    p.put("crowd", "small", 1900);
    CHECK(p.has_labels("crowd", "small"));
  }

  TEST_CASE("a pod that found no room has its labels again when they change and there is room") {
    labelled_pods p;
    p.put("shop", "a", 1000);
    p.put("crowd", "a", 3000);
    p.put("crowd", "b", 3050);
    CHECK_FALSE(p.has_labels("crowd", "b"));
    CHECK(p.has_labels("crowd", "a"));
    p.put("crowd", "b", 3050);
    CHECK(p.seen.labels_left_out() == 1);
    p.seen.gone({"crowd", "a"});
    p.put("crowd", "b", 3050);
    CHECK(p.has_labels("crowd", "b"));
    CHECK(p.seen.without_labels() == 0);
  }

  TEST_CASE("which pod has an address is known until the pod goes; a node's address belongs to no pod") {
    pods p;
    const auto put = [&p](const char* name, const char* addresses, bool on_host = false) {
      const auto object = kube::parse_object(
          fmt::format(R"({{"metadata":{{"uid":"{}"}},"spec":{{"nodeName":"n1","hostNetwork":{}}},)"
                      R"("status":{{"podIPs":{}}}}})",
                      name, on_host, addresses));
      REQUIRE(object.has_value());
      p.seen.changed({"ops", name}, *object);
    };
    const auto at = [&p](const char* address) {
      const kube::object_key* who = p.seen.at_address(async::address_of(address).value());
      return who == nullptr ? std::string() : who->text();
    };
    put("web", R"([{"ip":"10.0.0.7"},{"ip":"fd00::7"}])");
    put("agent", R"([{"ip":"192.168.1.1"}])", true);
    put("odd", R"([{"ip":"no address"},7,{}])");
    CHECK(at("10.0.0.7") == "ops/web");
    CHECK(at("::ffff:10.0.0.7") == "ops/web");
    CHECK(at("fd00:0::7") == "ops/web");
    CHECK(at("192.168.1.1") == "");
    CHECK(p.seen.find({"ops", "agent"})->addresses.size() == 1);
    CHECK(p.seen.find({"ops", "odd"})->addresses.empty());

    put("next", R"([{"ip":"10.0.0.7"}])");  // the watch is late with the end of the other one
    CHECK(at("10.0.0.7") == "ops/next");
    p.seen.gone({"ops", "web"});
    CHECK(at("10.0.0.7") == "ops/next");
    CHECK(at("fd00::7") == "");
    put("next", R"([{"ip":"10.0.0.8"}])");
    CHECK(at("10.0.0.7") == "");
    CHECK(at("10.0.0.8") == "ops/next");
    p.seen.gone({"ops", "next"});
    CHECK(at("10.0.0.8") == "");
  }

  TEST_CASE("what happens to a pod is told once, in order") {
    pods p;
    p.put("old", "u0", "node-a", "True");
    p.seen.synced();
    CHECK(told(p.seen.take()) == "before us: placed u0@node-a; before us: ready u0@node-a; ");
    p.put("web", "u1", "node-b");
    p.put("web", "u1", "node-b");
    p.put("web", "u1", "node-b", "True");
    p.put("web", "u1", "node-b", "False");
    p.seen.gone({"ops", "web"});
    p.seen.gone({"ops", "web"});
    CHECK(told(p.seen.take()) == "placed u1@node-b; ready u1@node-b; unready u1@node-b; gone u1@node-b; ");
    CHECK(p.seen.take().empty());
  }

  TEST_CASE("a new pod with the name of an old one is a new pod") {
    pods p;
    p.seen.synced();
    p.put("web-0", "u1", "node-a", "True");
    p.put("web-0", "u2", "node-b", "True");
    CHECK(told(p.seen.take()) ==
          "placed u1@node-a; ready u1@node-a; gone u1@node-a; placed u2@node-b; ready u2@node-b; ");
    CHECK(p.seen.objects().size() == 1);
  }

  TEST_CASE("an object without status, spec or labels does no harm") {
    pods p;
    p.seen.changed({"ops", "bare"},
                   *kube::parse_object(R"({"metadata":{"name":"bare"},"status":{"conditions":7}})"));
    REQUIRE(p.seen.find({"ops", "bare"}) != nullptr);
    CHECK_FALSE(p.seen.find({"ops", "bare"})->ready);
  }
}

}  // namespace

}  // namespace pod_objects_test
