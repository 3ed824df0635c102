#include "aggregator/cluster_spread.hpp"
#include "aggregator/decision/explain.hpp"
#include "tests/aggregator/extender/fleet.hpp"
#include "tests/aggregator/extender/go_args.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <map>
#include <set>

namespace extender_spread_test {

using namespace binnacle;
using namespace binnacle::test;
using namespace std::chrono_literals;

namespace {

boost::json::object parsed(const std::string& text) { return boost::json::parse(text).as_object(); }

using names = std::vector<std::string>;
using scores = std::map<std::string, int>;

/// A cluster as the API server reports it, behind the extender's real calls.
struct cluster : fleet {
  cluster() { face().spreading().watch(&known); }

  void node_object(const std::string& name, const std::string& zone, const std::string& region = "",
                   bool control_plane = false) {
    node(name);
    std::string labels = R"("kubernetes.io/hostname":")" + name + '"';
    if (!zone.empty()) labels += R"(,"topology.kubernetes.io/zone":")" + zone + '"';
    if (!region.empty()) labels += R"(,"topology.kubernetes.io/region":")" + region + '"';
    if (control_plane) labels += R"(,"node-role.kubernetes.io/control-plane":"")";
    nodes.changed({"", name},
                  parsed(fmt::format(
                      R"({{"metadata":{{"name":"{}","uid":"{}","resourceVersion":"1","labels":{{{}}}}}}})",
                      name, name, labels)));
  }
  void set(int replicas, const std::string& rate, const std::string& uid = "77", int desired = 0) {
    std::string notes = rate.empty() ? "" : R"("waok8s.github.io/podspread-rate":")" + rate + '"';
    if (desired != 0)
      notes += fmt::format(R"({}"deployment.kubernetes.io/desired-replicas":"{}")", notes.empty() ? "" : ",",
                           desired);
    sets.changed(
        {"default", "web-7d4b9c"},
        parsed(fmt::format(R"({{"metadata":{{"uid":"{}","annotations":{{{}}}}},"spec":{{"replicas":{}}}}})",
                           uid, notes, replicas)));
  }
  /// The API server reports that the pod is bound to a node.
  void bind(const std::string& pod, const std::string& node, const std::string& more = "",
            const std::string& set_uid = "77", const std::string& name_space = "default") {
    pods.changed(
        {name_space, pod},
        parsed(fmt::format(
            R"({{"metadata":{{"uid":"8f1e-{0}"{2},"ownerReferences":[{{"kind":"ReplicaSet","name":"web-7d4b9c",)"
            R"("uid":"{3}","controller":true}}]}},"spec":{{"nodeName":"{1}"}}}})",
            pod, node, more, set_uid)));
  }

  /// A pod of the ReplicaSet. `rate`: an annotation of the pod itself.
  static std::string pod(const std::string& name, const std::string& rate = "",
                         const std::string& policy = "", const std::string& toleration = "") {
    std::string text = pod_json(name, policy);
    const std::string note = R"("annotations":{)";
    if (!rate.empty())
      text.insert(text.find(note) + note.size(), R"("waok8s.github.io/podspread-rate":")" + rate + "\",");
    const std::string tolerations = R"("tolerations":[)";
    if (!toleration.empty()) text.insert(text.find(tolerations) + tolerations.size(), toleration + ",");
    return text;
  }
  names ask(const std::string& pod_text, const names& candidates) {
    last = filter(names_args(pod_text, candidates)).body;
    return passed(last);
  }
  static names passed(const std::string& body) {
    names out;
    const auto answer = parsed(body);
    for (const auto& n : answer.at("NodeNames").as_array()) out.emplace_back(n.as_string());
    return out;
  }
  scores rank(const std::string& pod_text, const names& candidates) {
    return prioritize(names_args(pod_text, candidates)).scores();
  }

  kube::node_objects nodes;
  kube::pod_objects pods;
  kube::replica_sets sets;
  aggregator::cluster_spread known{sets, pods, nodes};
  std::string last;
};

/// Two nodes in zone a, one each in b and c.
struct zones : cluster {
  zones() {
    for (const auto& [name, zone] : {std::pair("a1", "a"), {"a2", "a"}, {"b1", "b"}, {"c1", "c"}})
      node_object(name, zone);
  }
  const names all{"a1", "a2", "b1", "c1"};
};

const std::string tolerant =
    R"({"key":"node-role.kubernetes.io/control-plane","operator":"Exists","effect":"NoSchedule"})";

}  // namespace

TEST_SUITE("aggregator/extender/spread") {
  TEST_CASE("the first pods go to the zones with the fewest of them, and from the quota on all nodes may") {
    zones z;
    z.set(6, "0.5");
    z.bind("web-1", "a2");
    CHECK(z.ask(z.pod("web-2"), z.all) == names{"b1", "c1"});
    CHECK_MESSAGE(
        z.last.find(R"("FailedAndUnresolvableNodes":{"a1":"podspread-rate 0.5 of ReplicaSet web-7d4b9c: its )"
                    R"(first 3 pods go to the zones with the fewest of them","a2":")") != std::string::npos,
        z.last);
    CHECK_MESSAGE(z.told().find("no label telemetry-policy, spread by podspread-rate: 2 of 4 nodes pass") !=
                      std::string::npos,
                  z.told());
    CHECK_MESSAGE(
        z.told().find("1 of 3 pods to spread is placed (replicas: 6), by zone: b 0, c 0, a 1; only zones "
                      "with 0 may have this one") != std::string::npos,
        z.told());
    CHECK_MESSAGE(
        z.told().find("a1 refused by podspread-rate: its zone has 1 of the ReplicaSet's pods, and others "
                      "have 0") != std::string::npos,
        z.told());
    CHECK_MESSAGE(z.told().find("b1 passes\n") != std::string::npos, z.told());
    z.bind("web-2", "b1");
    CHECK(z.ask(z.pod("web-3"), z.all) == names{"c1"});
    z.bind("web-3", "c1");
    CHECK(z.ask(z.pod("web-4"), z.all) == z.all);
    CHECK_MESSAGE(
        z.told().find("3 of 3 pods to spread are placed (replicas: 6), so any node may have this one") !=
            std::string::npos,
        z.told());
    const auto json = decision::to_json(z.record(), z.decisions.names());
    CHECK_MESSAGE(
        json.find(R"("spread":{"state":"enough","rate":"0.5","replicaSet":"web-7d4b9c","replicas":6,)"
                  R"("quota":3,"placed":3,"inFlight":0,"by":"zone")") != std::string::npos,
        json);
  }

  TEST_CASE("regions go before zones, and single nodes are areas where there are neither") {
    cluster c;
    c.node_object("e1", "a", "eu");
    c.node_object("e2", "b", "eu");
    c.node_object("u1", "c", "us");
    c.set(4, "1");
    c.bind("web-1", "e1");
    CHECK(c.ask(c.pod("web-2"), {"e1", "e2", "u1"}) == names{"u1"});
    c.nodes.gone({"", "u1"});  // one region is left, with two zones
    CHECK(c.ask(c.pod("web-3"), {"e1", "e2"}) == names{"e2"});
    c.nodes.gone({"", "e2"});
    c.node_object("e3", "a", "eu");  // one region, one zone
    CHECK(c.ask(c.pod("web-4"), {"e1", "e3"}) == names{"e3"});
  }

  TEST_CASE("a node without the area's label gets none of the first pods, unless no candidate has one") {
    zones z;
    z.node_object("bare", "");
    z.set(4, "1");
    CHECK(z.ask(z.pod("web-1"), {"bare", "a1"}) == names{"a1"});
    CHECK_MESSAGE(z.told().find("bare refused by podspread-rate: it has no label that says its zone") !=
                      std::string::npos,
                  z.told());
    CHECK(z.ask(z.pod("web-2"), {"bare", "unheard-of"}) == names{"bare", "unheard-of"});
    CHECK_MESSAGE(z.told().find("no candidate has the label of a zone") != std::string::npos, z.told());
  }

  TEST_CASE("zones without a candidate hold nothing up: they are full, cordoned or gone") {
    zones z;
    z.set(4, "1");
    z.bind("web-1", "a1");
    CHECK(z.ask(z.pod("web-2"), {"a1", "a2"}) == names{"a1", "a2"});
    CHECK_MESSAGE(z.told().find("by zone: a 1; only zones with 1 may have this one") != std::string::npos,
                  z.told());
  }

  TEST_CASE(
      "nodes of the control plane are for pods that tolerate it, and for others only if nothing else is "
      "left") {
    zones z;
    z.node_object("master", "m", "", true);
    z.set(4, "1");
    const names with{"master", "a1", "b1"};
    z.bind("web-1", "a1");
    CHECK(z.ask(z.pod("web-2"), with) == names{"b1"});
    CHECK_MESSAGE(
        z.told().find("master refused by podspread-rate: it is of the control plane") != std::string::npos,
        z.told());
    CHECK(z.ask(z.pod("web-2", "", "", tolerant), with) == names{"master", "b1"});
    // WAO's podspread counted the empty area of the control plane for the minimum, and so left no node at
    // all.
    z.bind("web-2", "b1");
    CHECK(z.ask(z.pod("web-3"), with) == names{"a1", "b1"});
    CHECK(z.ask(z.pod("web-3"), {"master"}) == names{"master"});
    CHECK_MESSAGE(z.told().find("of the control plane, too, since no other is left") != std::string::npos,
                  z.told());
  }

  TEST_CASE("the annotation counts on the Deployment, whose ReplicaSet has it, on the pod, or on both") {
    zones z;
    z.set(2, "1");  // on the Deployment alone: theirs did nothing
    z.bind("web-1", "a1");
    CHECK(z.ask(z.pod("web-2"), z.all) == names{"b1", "c1"});
    zones on_pod;
    on_pod.set(2, "");
    on_pod.bind("web-1", "a1");
    CHECK(on_pod.ask(on_pod.pod("web-2", "1"), on_pod.all) == names{"b1", "c1"});
    CHECK(on_pod.ask(on_pod.pod("web-3"), on_pod.all) == on_pod.all);
    CHECK(on_pod.record().spread == nullptr);
    zones both;
    both.set(2, "0");  // theirs takes the ReplicaSet's
    both.bind("web-1", "a1");
    CHECK(both.ask(both.pod("web-2", "1"), both.all) == both.all);
  }

  TEST_CASE("what cannot be spread is said, and all nodes may have the pod") {
    const auto says = [](zones& z, const std::string& pod, const char* words) {
      CHECK(z.ask(pod, z.all) == z.all);
      CHECK_MESSAGE(z.told().find(words) != std::string::npos, z.told());
    };
    zones z;
    says(z, z.pod("web-1", "1"), "this ReplicaSet is not known");
    z.set(2, "", "another");  // of the same name
    says(z, z.pod("web-1", "1"), "this ReplicaSet is not known");
    z.set(2, "most");
    says(z, z.pod("web-1"), "podspread-rate most counts as none: write a number from 0 to 1");
    z.set(2, "1.5");
    says(z, z.pod("web-1"), "podspread-rate 1.5 counts as none");
    std::string alone = z.pod("web-1", "1");
    const std::string kind = R"("kind":"ReplicaSet")";
    alone.replace(alone.find(kind), kind.size(), R"("kind":"StatefulSet")");
    says(z, alone, "no ReplicaSet made the pod");
  }

  TEST_CASE("the quota follows the replicas when they change after the first pod") {
    zones z;
    z.set(2, "0.5");
    z.bind("web-1", "a1");
    CHECK(z.ask(z.pod("web-2"), z.all) == z.all);
    z.set(6, "0.5");
    CHECK(z.ask(z.pod("web-2"), z.all) == names{"b1", "c1"});
    // A rolling update begins with one replica of the new ReplicaSet. Half of that one would be none.
    z.set(1, "0.5", "77", 4);
    CHECK(z.ask(z.pod("web-2"), z.all) == names{"b1", "c1"});
    z.set(4, "0");
    CHECK(z.ask(z.pod("web-2"), z.all) == z.all);
  }

  TEST_CASE("pods that go make room for others, and those being deleted do not count") {
    zones z;
    z.set(3, "1");
    z.bind("web-1", "a1");
    z.bind("web-2", "b1");
    z.bind("web-3", "c1", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")");
    CHECK(z.ask(z.pod("web-4"), z.all) == names{"c1"});
    z.pods.gone({"default", "web-2"});
    z.now += 11s;
    CHECK(z.ask(z.pod("web-5"), z.all) == names{"b1", "c1"});
  }

  TEST_CASE("ReplicaSets of one name in two namespaces, and two of one name one after the other, are two") {
    zones z;
    z.set(4, "1");
    z.bind("web-1", "a1", "", "of-another-namespace", "shop");
    z.bind("web-2", "b1", "", "an-older-one");
    CHECK(z.ask(z.pod("web-1"), z.all) == z.all);
    CHECK(z.record().spread->placed == 0);
  }

  TEST_CASE("a burst is spread before anybody has seen a binding: prioritize says which area it will be") {
    zones z;
    z.set(6, "0.5");
    std::set<std::string> seen;
    for (const char* name : {"web-1", "web-2", "web-3"}) {
      CAPTURE(name);
      const names may = z.ask(z.pod(name), z.all);
      std::string chosen = may.front();
      if (may.size() > 1) {
        int best = 0;
        for (const auto& [node, score] : z.rank(z.pod(name), may)) {
          if (score > best) chosen = node;
          best = std::max(best, score);
        }
        const bool several = may.front().front() != may.back().front();
        CHECK_MESSAGE((z.told().find("goes first") != std::string::npos) == several, z.told());
      }
      CHECK(seen.insert(chosen.substr(0, 1)).second);  // the first letter is the zone
    }
    CHECK(z.ask(z.pod("web-4"), z.all) == z.all);
    CHECK(z.record().spread->in_flight == 3);
    // A pod that the API server shows on its node counts once. A pod whose binding never comes is forgotten.
    z.bind("web-1", "a1");
    CHECK(z.ask(z.pod("web-4"), z.all) == z.all);
    CHECK(z.record().spread->placed == 3);
    CHECK(z.record().spread->in_flight == 2);
    z.now += 11s;
    CHECK(z.ask(z.pod("web-4"), z.all) == names{"b1", "c1"});
  }

  TEST_CASE("a pod that is asked about again is not on its way any more") {
    zones z;
    z.set(4, "1");
    for (int i = 0; i < 3; ++i) {
      CHECK(z.ask(z.pod("web-1"), {"b1"}) == names{"b1"});
      CHECK(z.record().spread->placed == 0);
    }
    CHECK(z.ask(z.pod("web-2"), z.all) == names{"a1", "a2", "c1"});
  }

  TEST_CASE("the policy's refusals stand, and spreading takes no candidate that they leave as the last") {
    zones z;
    z.set(4, "1");
    policy::policy p;
    p.key = {"default", "cool"};
    p.strategies = {fleet::dontschedule({fleet::rule("watts", policy::comparison::greater_than, 60)}),
                    fleet::scheduleonmetric(fleet::rule("watts", policy::comparison::less_than, 0))};
    for (const auto& [name, watts] : {std::pair("a1", 10), {"a2", 20}, {"b1", 99}, {"c1", 99}})
      z.value(name, "watts", {watts, 0});
    z.publish(p);
    z.bind("web-1", "a1");
    CHECK(z.ask(z.pod("web-2", "", "cool"), z.all) == names{"a1", "a2"});
    CHECK_MESSAGE(z.told().find("b1 refused: watts 99 > 60") != std::string::npos, z.told());
    z.value("c1", "watts", {30, 0});
    z.publish(p);
    CHECK(z.ask(z.pod("web-2", "", "cool"), z.all) == names{"c1"});
    CHECK_MESSAGE(z.last.find("\"b1\":\"policy default/cool: watts GreaterThan 60 (dontschedule)\"") !=
                      std::string::npos,
                  z.last);
    CHECK(z.record().refused == 3);
    // The policy refuses all nodes, so the pod is not counted as in flight.
    for (const char* name : {"a1", "a2", "c1"}) z.value(name, "watts", {99, 0});
    z.publish(p);
    CHECK(z.ask(z.pod("web-3", "", "cool"), z.all).empty());
    CHECK(z.ask(z.pod("web-4", "", "cool"), z.all).empty());
    CHECK(z.record().spread->in_flight == 1);  // only web-2
    // A policy in dry run refuses nothing. The annotation is not part of the policy and still refuses.
    p.how = policy::mode::dry_run;
    z.publish(p);
    CHECK(z.ask(z.pod("web-2", "", "cool"), z.all) == names{"b1", "c1"});
    const auto json = parsed(decision::to_json(z.record(), z.decisions.names()));
    CHECK(json.at("passed") == 2);
  }

  TEST_CASE("the policy's best score decides between areas with as few, and the next pod knows it") {
    zones z;
    z.set(4, "1");
    policy::policy p;
    p.key = {"default", "cool"};
    p.strategies = {fleet::scheduleonmetric(fleet::rule("watts", policy::comparison::less_than, 0))};
    for (const auto& [name, watts] : {std::pair("a1", 50), {"a2", 90}, {"b1", 10}, {"c1", 90}})
      z.value(name, "watts", {watts, 0});
    z.publish(p);
    CHECK(z.ask(z.pod("web-1", "", "cool"), z.all) == z.all);
    CHECK(z.rank(z.pod("web-1", "", "cool"), z.all) == scores{{"a1", 5}, {"a2", 0}, {"b1", 10}, {"c1", 0}});
    CHECK(z.ask(z.pod("web-2", "", "cool"), z.all) == names{"a1", "a2", "c1"});
    // Two nodes with equal scores in different areas: one of them loses a point.
    z.value("c1", "watts", {50, 0});
    z.publish(p);
    const auto equal = z.rank(z.pod("web-2", "", "cool"), {"a1", "a2", "c1"});
    CHECK(equal.at("a1") + equal.at("c1") == 19);
    const names left = z.ask(z.pod("web-3", "", "cool"), z.all);
    CHECK(left == (equal.at("c1") == 10 ? names{"a1", "a2"} : names{"c1"}));
  }

  TEST_CASE("whole Node objects are answered alike, wherever the Pod stands and the body is cut") {
    for (const std::size_t piece : {1, 7, 1000, 65536}) {
      CAPTURE(piece);
      zones z;
      z.set(4, "1");
      z.bind("web-1", "a1");
      const std::string a = node_json("a1"), b = node_json("b1"), c = node_json("c1");
      const std::string expected =
          R"({"Nodes":{"metadata":{},"items":[)" + b + "," + c + R"(]},"NodeNames":null,"FailedNodes":{},)" +
          R"("FailedAndUnresolvableNodes":{"a1":"podspread-rate 1 of ReplicaSet web-7d4b9c: its first 4 pods go to )" +
          R"(the zones with the fewest of them"},"Error":""})";
      CHECK(z.filter(nodes_args(z.pod("web-2"), {a, b, c, b}), piece).body == expected);
      const std::string nodes = R"({"items":[)" + a + "," + b + "," + c + "]}";
      CHECK(z.filter(R"({"Nodes":)" + nodes + R"(,"Pod":)" + z.pod("web-2") + "}", piece).body == expected);
    }
  }

  TEST_CASE("of many areas the emptiest are named") {
    cluster c;
    names all;
    for (int i = 0; i < 40; ++i) all.push_back(fmt::format("n{:02}", i));
    for (const auto& n : all) c.node_object(n, "");
    c.set(40, "1");
    c.bind("web-0", "n00");
    CHECK(c.ask(c.pod("web-1"), all).size() == 39);
    CHECK_MESSAGE(
        c.told().find("n16 0 and 24 more; only nodes with 0 may have this one") != std::string::npos,
        c.told());
  }
}

}  // namespace extender_spread_test
