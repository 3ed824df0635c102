#include "aggregator/kube/objects/node_objects.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

namespace node_objects_test {

namespace {

using namespace binnacle;

struct cluster {
  kube::node_objects seen;
  void put(const std::string& name, const std::string& labels, const std::string& ours,
           const std::string& uid = "u1") {
    seen.changed({"", name}, object(name, labels, ours, uid));
  }
  boost::json::object object(const std::string& name, const std::string& labels, const std::string& ours,
                             const std::string& uid) {
    return boost::json::
        parse(fmt::format(
                  R"({{"metadata":{{"name":"{0}","uid":"{3}","resourceVersion":"{4}","labels":{1},"annotations":{{"other":"x","binnacle/labels":"{2}"}}}}}})",
                  name, labels, ours, uid, ++version))
            .as_object();
  }
  int version = 0;
};

TEST_SUITE("aggregator/kube/objects/node_objects") {
  TEST_CASE("how many regions and zones there are is counted while nodes come, change and go") {
    cluster c;
    const auto labels = [](const char* region, const char* zone) {
      return fmt::format(R"({{"topology.kubernetes.io/region":"{}","topology.kubernetes.io/zone":"{}"}})",
                         region, zone);
    };
    c.put("n1", labels("eu", "a"), "");
    c.put("n2", labels("eu", "b"), "");
    c.put("n3", "{}", "");
    CHECK(c.seen.regions().different() == 1);
    CHECK(c.seen.zones().different() == 2);
    c.put("n2", labels("us", "a"), "");
    CHECK(c.seen.regions().different() == 2);
    CHECK(c.seen.zones().different() == 1);
    c.put("n2", labels("us", "a"), "", "u9");  // made again
    CHECK(c.seen.regions().different() == 2);
    c.put("n3", labels("us", "c"), "");
    c.seen.gone({"", "n2"});
    CHECK(c.seen.regions().different() == 2);
    c.put("n3", "{}", "");
    c.seen.gone({"", "n3"});
    c.seen.gone({"", "unknown"});
    CHECK(c.seen.regions().different() == 1);
    c.seen.gone({"", "n1"});
    CHECK(c.seen.regions().different() == 0);
    CHECK(c.seen.zones().different() == 0);
  }

  TEST_CASE("labels are found by their whole key, and what we wrote by the annotation") {
    cluster c;
    c.put("n1", R"({"a":"1","ab":"","b":"a","number":5})", "ab, gone ,b");
    const auto* n = c.seen.find("n1");
    REQUIRE(n != nullptr);
    CHECK(n->labels.find("a") == "1");
    CHECK(n->labels.find("ab") == "");
    CHECK_FALSE(n->labels.find("1").has_value());
    CHECK_FALSE(n->labels.find("number").has_value());
    CHECK(n->version == "1");
    CHECK(n->written() == std::map<std::string, std::string>{{"ab", ""}, {"b", "a"}});
    CHECK(c.seen.find("n2") == nullptr);
  }

  TEST_CASE("a node is named when its labels differ, not for its heartbeats") {
    cluster c;
    c.put("n1", R"({"a":"1"})", "");
    c.put("n2", "null", "");
    CHECK(c.seen.take() == std::vector<std::string>{"n1", "n2"});
    c.put("n1", R"({"a":"1"})", "");
    CHECK(c.seen.take().empty());
    CHECK(c.seen.find("n1")->version == "3");
    c.put("n1", R"({"a":"2"})", "");
    c.put("n2", "null", "a");
    CHECK(c.seen.take() == std::vector<std::string>{"n1", "n2"});
    c.seen.gone({"", "n1"});
    c.seen.gone({"", "n3"});
    CHECK(c.seen.take() == std::vector<std::string>{"n1"});
    CHECK(c.seen.find("n1") == nullptr);
  }

  TEST_CASE("a node that was deleted and made again under its old name is a new one") {
    cluster c;
    c.put("n1", "{}", "");
    c.seen.take();
    c.put("n1", "{}", "", "u2");
    CHECK(c.seen.take() == std::vector<std::string>{"n1"});
  }

  TEST_CASE("an answer that comes after the node's end makes no node") {
    cluster c;
    c.put("n1", "{}", "");
    c.put("n2", "{}", "", "u3");
    c.seen.take();
    const auto late = c.object("n1", R"({"a":"1"})", "a", "u1");
    c.seen.patched("n1", late);
    CHECK(c.seen.take() == std::vector<std::string>{"n1"});
    c.seen.gone({"", "n1"});
    c.seen.take();
    c.seen.patched("n1", late);
    CHECK(c.seen.find("n1") == nullptr);
    c.seen.patched("n2", late);  // made anew under that name meanwhile
    CHECK(c.seen.take().empty());
  }

  TEST_CASE("a watch that is behind does not undo what the answer to a patch has told") {
    cluster c;
    c.put("n1", "{}", "");
    const auto before = c.object("n1", R"({"a":"1"})", "a", "u1");  // version 2: our first patch
    const auto patch = c.object("n1", R"({"a":"1","b":"1"})", "a,b", "u1");
    c.seen.patched("n1", before);
    c.seen.patched("n1", patch);
    c.seen.changed({"", "n1"}, before);
    CHECK(c.seen.find("n1")->written().size() == 2);
    CHECK(c.seen.find("n1")->version == "3");
    c.seen.changed({"", "n1"}, patch);
    c.version = 9;
    c.put("n1", R"({"b":"1"})", "b");
    CHECK(c.seen.find("n1")->written() == std::map<std::string, std::string>{{"b", "1"}});
    CHECK(c.seen.find("n1")->version == "10");
    // A new node of the same name has versions of its own. A lower version of one node is believed, too: the
    // API server was restored from a backup.
    c.seen.patched("n1", c.object("n1", R"({"b":"1"})", "b", "u1"));
    c.version = 4;
    c.put("n1", "{}", "", "u2");
    CHECK(c.seen.find("n1")->version == "5");
    c.version = 2;
    c.put("n1", R"({"b":"1"})", "b", "u2");
    CHECK(c.seen.find("n1")->version == "3");
    // This holds after a patch of ours, too, once a complete list has come: etcd was restored from a backup.
    c.version = 7;
    c.seen.patched("n1", c.object("n1", R"({"b":"1"})", "b", "u2"));
    c.version = 3;
    c.put("n1", "{}", "", "u2");
    CHECK(c.seen.find("n1")->version == "8");
    c.seen.synced();
    c.put("n1", "{}", "", "u2");
    CHECK(c.seen.find("n1")->version == "5");
  }

  TEST_CASE("a list beside a watch that is half open shows labels, and the watch does not undo them") {
    cluster c;
    c.put("n1", "{}", "");
    const auto old = c.object("n1", R"({"a":"1"})", "a", "u1");
    const auto newest = c.object("n1", R"({"b":"1"})", "b", "u1");
    c.seen.take();
    c.seen.read_again({"", "n1"}, newest, "1");
    CHECK(c.seen.take() == std::vector<std::string>{"n1"});
    CHECK(c.seen.find("n1")->written() == std::map<std::string, std::string>{{"b", "1"}});
    c.seen.changed({"", "n1"}, old);  // the watch comes to itself, and tells what went before
    CHECK(c.seen.find("n1")->written() == std::map<std::string, std::string>{{"b", "1"}});
    // The watch has not yet reported this node.
    c.seen.read_again({"", "n2"}, c.object("n2", R"({"a":"1"})", "a", "u2"), "1");
    REQUIRE(c.seen.find("n2") != nullptr);
    CHECK(c.seen.find("n2")->written().size() == 1);
    // The watch is ahead of what was read again.
    const auto before = c.object("n2", R"({"a":"1"})", "a", "u2");
    c.put("n2", "{}", "", "u2");
    c.seen.read_again({"", "n2"}, before, "6");
    CHECK(c.seen.find("n2")->written().empty());
  }

  TEST_CASE("a list beside the watch does not bring back a node that the watch has shown to be gone") {
    cluster c;
    const auto old = c.object("n1", R"({"a":"1"})", "a", "u1");     // version 1
    const auto before = c.object("n2", R"({"a":"1"})", "a", "u2");  // version 2
    c.seen.changed({"", "n1"}, old);
    c.seen.gone({"", "n1"});
    c.put("n2", "{}", "", "u3");  // version 3: made again under its name
    c.seen.take();
    c.seen.read_again({"", "n1"}, old, "3");
    c.seen.read_again({"", "n2"}, before, "3");
    CHECK(c.seen.find("n1") == nullptr);
    CHECK(c.seen.find("n2")->uid == "u3");
    CHECK(c.seen.take().empty());
    // A version that is no number says nothing about before and after: the list is believed.
    c.seen.read_again({"", "n1"}, old, "abc");
    CHECK(c.seen.find("n1") != nullptr);
  }

  TEST_CASE(
      "a node that only a list beside the watch has shown goes when the watch passes it without a word") {
    cluster c;
    c.version = 4;
    c.seen.read_again({"", "n1"}, c.object("n1", "{}", "", "u1"), "4");  // version 5
    c.seen.read_again({"", "n2"}, c.object("n2", "{}", "", "u2"), "4");
    c.seen.read_again({"", "n3"}, c.object("n3", "{}", "", "u3"), "4");
    c.seen.patched("n2", c.object("n2", R"({"a":"1"})", "a", "u2"));  // version 8: the watch has not shown it
    c.seen.watched_up_to("4");
    CHECK(c.seen.nodes().size() == 3);
    c.seen.changed({"", "n3"}, c.object("n3", "{}", "", "u3"));
    c.seen.take();
    c.seen.watched_up_to("7");
    CHECK(c.seen.find("n1") == nullptr);
    CHECK(c.seen.find("n2") != nullptr);
    CHECK(c.seen.take() == std::vector<std::string>{"n1"});
    c.seen.watched_up_to("10");
    CHECK(c.seen.find("n2") == nullptr);
    CHECK(c.seen.find("n3") != nullptr);
  }

  TEST_CASE("only metadata is asked for, in pages") {
    const auto what = kube::node_objects::collection();
    CHECK(what.path == "/api/v1/nodes");
    CHECK(what.list_accept.starts_with("application/json;as=PartialObjectMetadataList;"));
    CHECK(what.watch_accept.starts_with("application/json;as=PartialObjectMetadata;"));
    kube::node_objects seen;
    kube::reflector machine(what, seen, 1);
    CHECK(machine.next(instant(std::chrono::hours(1))).target == "/api/v1/nodes?limit=200");
  }
}

}  // namespace

}  // namespace node_objects_test
