#include "aggregator/extender/args_parser.hpp"

#include "tests/aggregator/extender/go_args.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace args_parser_test {

using namespace binnacle;
using namespace binnacle::extender;
using binnacle::test::names_args;
using binnacle::test::node_json;
using binnacle::test::nodes_args;
using binnacle::test::pod_json;

namespace {

/// Keeps all calls of the parser.
struct notes final : args_sink {
  void on_pod() override { events += "pod "; }
  void on_item_bytes(std::string_view bytes) override { item += bytes; }
  void on_item() override {
    items.push_back(std::exchange(item, {}));
    events += "item ";
  }
  void on_repeated_item() override {
    item.clear();
    events += "again ";
  }
  std::string events, item;
  std::vector<std::string> items;
};

struct reading {
  explicit reading(std::string_view body, std::size_t split = 0, args_limits limits = {})
      : parser(heard, limits) {
    if (split != 0) parser.consume(std::string(body.substr(0, split)));
    parser.consume(std::string(body.substr(split)));
    whole = parser.finish();
  }
  std::vector<std::string> names() const { return texts(parser.names()); }
  static std::vector<std::string> texts(const name_list& list) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < list.size(); ++i) out.emplace_back(list[i]);
    return out;
  }
  notes heard;
  args_parser parser;
  result<void> whole;
};

std::string problem(std::string_view body, args_limits limits = {}) {
  reading r(body, 0, limits);
  return r.whole.has_error() ? r.whole.error().message : "none";
}

using list = std::vector<std::string>;

}  // namespace

TEST_SUITE("aggregator/extender/args_parser") {
  TEST_CASE("reads the names form of kube-scheduler, cut in two at every byte") {
    const std::string body =
        names_args(pod_json("web-1", "power"), {"node-a", "node-b", "n\\u00fcrnberg", "a\\\"b"});
    for (std::size_t split = 0; split < body.size(); ++split) {
      CAPTURE(split);
      reading r(body, split);
      REQUIRE_FALSE(r.whole.has_error());
      REQUIRE(r.names() == list{"node-a", "node-b", "nürnberg", "a\"b"});
      REQUIRE(r.parser.pod().name == "web-1");
      REQUIRE(r.parser.pod().name_space == "default");
      REQUIRE(r.parser.pod().uid == "8f1e-web-1");
      REQUIRE(r.parser.pod().policy == "power");
      REQUIRE_FALSE(r.parser.has_nodes());
    }
  }

  TEST_CASE("reads the full form and hands on each node's own bytes, cut in two at every byte") {
    const list nodes{node_json("node-a"), node_json("node-b", 0)};
    const std::string body = nodes_args(pod_json("web-1", "power"), nodes);
    for (std::size_t split = 0; split < body.size(); ++split) {
      CAPTURE(split);
      reading r(body, split);
      REQUIRE_FALSE(r.whole.has_error());
      REQUIRE(r.heard.events == "pod item item ");
      REQUIRE(r.heard.items == nodes);
      REQUIRE(reading::texts(r.parser.items()) == list{"node-a", "node-b"});
      REQUIRE_FALSE(r.parser.has_names());
    }
  }

  TEST_CASE("byte by byte gives the same as whole") {
    const std::string body = nodes_args(pod_json("web-1", "power"), {node_json("node-a")});
    notes heard;
    args_parser parser(heard, {});
    for (const char& c : body) REQUIRE(parser.consume({&c, 1}));
    CHECK_FALSE(parser.finish().has_error());
    CHECK(heard.items == list{node_json("node-a")});
  }

  TEST_CASE("keys are matched without case and in any order") {
    reading names(R"({"nodenames":["x"],"NODES":null,"pod":{"Metadata":{"NAME":"p"}}})");
    CHECK_FALSE(names.whole.has_error());
    CHECK(names.names() == list{"x"});
    CHECK(names.parser.pod().name == "p");

    reading nodes(
        R"({"Nodes":{"Items":[ {"metadata":{"name":"x"}} , {"metadata":{"name":"y"}} ]},"Pod":{"metadata":{}}})");
    CHECK_FALSE(nodes.whole.has_error());
    CHECK(nodes.heard.events == "item item pod ");
    CHECK(reading::texts(nodes.parser.items()) == list{"x", "y"});
  }

  TEST_CASE("a name that comes twice stands once in its list, and places are told as they were sent") {
    list many;
    for (int i = 0; i < 300; ++i) many.push_back(std::to_string(i * i % 101));
    list once;
    for (const std::string& n : many) {
      if (std::find(once.begin(), once.end(), n) == once.end()) once.push_back(n);
    }
    CHECK(reading(names_args("{}", many), 200).names() == once);

    const std::string x = R"({"metadata":{"name":"x"}})";
    reading nodes(nodes_args("{}", {x, x, R"({"metadata":{"name":"y"}})", x}));
    CHECK(nodes.heard.events == "pod item again item again ");
    CHECK(reading::texts(nodes.parser.items()) == list{"x", "y"});
    CHECK(problem(nodes_args("{}", {x, x, "{}"})) == "Nodes.items[2] has no metadata.name");
  }

  TEST_CASE("a key written with escapes is the same key") {
    reading r(
        R"({"P\u006fd":{"m\u0065tadata":{"n\u0061me":"p","labels":{"telemetry\u002dpolicy":"q"}}},"NodeNames":["x"]})");
    CHECK_FALSE(r.whole.has_error());
    CHECK(r.parser.pod().name == "p");
    CHECK(r.parser.pod().policy == "q");
  }

  TEST_CASE("a label's key keeps its case, and only metadata.labels counts") {
    reading r(
        R"({"Pod":{"labels":{"telemetry-policy":"a"},"spec":{"metadata":{"name":"b","labels":{"telemetry-policy":"c"}}},)"
        R"("metadata":{"annotations":{"telemetry-policy":"d"},"labels":{"Telemetry-Policy":"e","x":{"telemetry-policy":"f"}},)"
        R"("ownerReferences":[{"name":"g"}],"name":"right"}},"NodeNames":[]})");
    CHECK_FALSE(r.whole.has_error());
    CHECK_FALSE(r.parser.pod().has_policy);
    CHECK(r.parser.pod().name == "right");
  }

  TEST_CASE("values of other types where text is expected count as absent") {
    reading r(
        R"({"Pod":{"metadata":[{"name":"a"}],"metadata":{"name":5,"namespace":null,"uid":{"name":"x"},"labels":["telemetry-policy","z"]}},"NodeNames":[]})");
    CHECK_FALSE(r.whole.has_error());
    CHECK(r.parser.pod().name.empty());
    CHECK(r.parser.pod().uid.empty());
    CHECK_FALSE(r.parser.pod().has_policy);
  }

  TEST_CASE(
      "a namespace or policy label that is not text is refused, as another policy or none would judge") {
    for (const char* wrong : {"7", "true", "{}", "[\"a\"]"}) {
      CAPTURE(wrong);
      reading labelled(std::string(R"({"Pod":{"metadata":{"labels":{"a":1,"telemetry-policy":)") + wrong +
                       R"(}}},"NodeNames":[]})");
      REQUIRE(labelled.whole.has_error());
      CHECK(labelled.whole.error().message == "the metadata.labels.telemetry-policy of Pod is not a string");
      reading r(std::string(R"({"Pod":{"metadata":{"name":"p","namespace":)") + wrong +
                R"(}},"NodeNames":[]})");
      REQUIRE(r.whole.has_error());
      CHECK(r.whole.error().message == "the metadata.namespace of Pod is not a string");
    }
  }

  TEST_CASE("unknown fields of every type and text behind the object are ignored") {
    reading r(
        R"(  {"a":1,"b":-2.5e3,"c":[1,[2]],"d":{"Pod":{}},"e":null,"f":true,"g":"s",)"
        R"("Pod":{"metadata":{"name":"p"}},"Nodes":{"metadata":{"remainingItemCount":3},"kind":"List","items":null},"NodeNames":["x"]} }{]junk)");
    CHECK_FALSE(r.whole.has_error());
    CHECK(r.names() == list{"x"});
    CHECK(r.parser.has_nodes());
    CHECK(r.parser.items().empty());
  }

  TEST_CASE("each wrong body gets a sentence of its own") {
    struct {
      std::string_view body, sentence;
    } const table[] = {
        {"", "the body is empty: expected ExtenderArgs: an object with Pod and NodeNames or Nodes"},
        {" \n ", "the body is empty: expected ExtenderArgs: an object with Pod and NodeNames or Nodes"},
        {"[]",
         "the body is an array, not an object: expected ExtenderArgs: an object with Pod and NodeNames or "
         "Nodes"},
        {"null",
         "the body is null, not an object: expected ExtenderArgs: an object with Pod and NodeNames or Nodes"},
        {"17",
         "the body is a number, not an object: expected ExtenderArgs: an object with Pod and NodeNames or "
         "Nodes"},
        {"hello", "the body is not JSON: byte 1 should be an object"},
        {"{}", "Pod is null or absent: expected ExtenderArgs: an object with Pod and NodeNames or Nodes"},
        {R"({"Pod":null,"NodeNames":["a"]})",
         "Pod is null or absent: expected ExtenderArgs: an object with Pod and NodeNames or Nodes"},
        {R"({"Pod":{},"Nodes":null,"NodeNames":null})",
         "NodeNames and Nodes are both null or absent: expected ExtenderArgs: an object with Pod and "
         "NodeNames or Nodes"},
        {R"({"Pod":[],"NodeNames":[]})", "Pod is an array, not an object"},
        {R"({"Pod":{},"NodeNames":"a"})", "NodeNames is a string, not an array or null"},
        {R"({"Pod":{},"NodeNames":["a",5]})", "NodeNames[1] is a number, not a string"},
        {R"({"Pod":{},"NodeNames":["a",""]})", "NodeNames[1] is empty"},
        {R"({"Pod":{},"Nodes":[]})", "Nodes is an array, not an object or null"},
        {R"({"Pod":{},"Nodes":{"items":{}}})", "Nodes.items is an object, not an array or null"},
        {R"({"Pod":{},"Nodes":{"items":[null]}})", "Nodes.items[0] is null, not an object"},
        {R"({"Pod":{},"Nodes":{"items":[{"metadata":{}}]}})", "Nodes.items[0] has no metadata.name"},
        {R"({"Pod":{},"Pod":{}})", "key Pod comes twice"},
        {R"({"Pod":{},"NodeNames":[],"nodeNames":[]})", "key nodeNames comes twice"},
        {R"({"Pod":{},"NodeNames":["a" "b"]})", "the body is not JSON: byte 28 should be ',' or ']'"},
        {R"({"Pod":{},})", "the body is not JSON: byte 11 should be a key in quotes"},
        {R"({"Pod" {}})", "the body is not JSON: byte 8 should be ':'"},
        {R"({"Pod":{"metadata":{"name":tru}}})", "Pod is not JSON (syntax error)"},
        {"{\"Pod\":{},\"NodeNames\":[\"a\tb\"]}", "NodeNames[0] is not JSON (syntax error)"},
        {"{\"Pod\":{},\"NodeNames\":[\"a\xff\"]}", "NodeNames[0] is not JSON (syntax error)"},
        {R"({"Pod":{},"NodeNames":["a")", "the body ends after 26 bytes in the middle of its JSON"},
        {R"({"Pod":{},"NodeNames":[],)", "the body ends after 25 bytes in the middle of its JSON"},
    };
    for (const auto& row : table) {
      CAPTURE(row.body);
      CHECK(problem(row.body) == row.sentence);
    }
  }

  TEST_CASE("a wrong body is refused with the same words wherever it is cut") {
    for (const std::string_view body :
         {R"({"Pod":{},"NodeNames":["a",5]})", R"({"Pod":{"a":[1,}},"NodeNames":[]})",
          R"({"Pod":{},"NodeNames":["a" "b"]})", R"({"Pod":{},"x":nul })"}) {
      for (std::size_t split = 1; split < body.size(); ++split) {
        CAPTURE(body);
        CAPTURE(split);
        CHECK(reading(body, split).whole.error().message == problem(body));
      }
    }
  }

  TEST_CASE("every proper prefix of a good body is refused") {
    const std::string body = names_args(pod_json("web-1", "power"), {"node-a"});
    for (std::size_t n = 0; n < body.size(); ++n) {
      CAPTURE(n);
      REQUIRE(reading(std::string_view(body).substr(0, n)).whole.has_error());
    }
  }

  TEST_CASE("bounds: names, nodes, depth, bytes") {
    const std::string longest(253, 'n');
    CHECK(problem(fmt::format(R"({{"Pod":{{}},"NodeNames":["{}"]}})", longest)) == "none");
    CHECK(problem(fmt::format(R"({{"Pod":{{}},"NodeNames":["{}x"]}})", longest)) ==
          "NodeNames[0] holds a name longer than 253 bytes");
    CHECK(problem(fmt::format(R"({{"Pod":{{}},"NodeNames":["{}\n"]}})", longest)) ==
          "NodeNames[0] holds a name longer than 253 bytes");
    CHECK(problem(fmt::format(R"({{"Pod":{{"metadata":{{"uid":"{}x"}}}}}})", longest)) ==
          "Pod holds a name longer than 253 bytes");

    args_limits few;
    few.nodes = 2;
    CHECK(problem(R"({"Pod":{},"NodeNames":["a","b"]})", few) == "none");
    CHECK(problem(R"({"Pod":{},"NodeNames":["a","b","c"]})", few) == "the request names more than 2 nodes");

    const auto nested = [](std::size_t levels) {
      return R"({"NodeNames":[],"Pod":{"x":)" + std::string(levels, '[') + std::string(levels, ']') + "}}";
    };
    CHECK(problem(nested(40)) == "none");
    CHECK(problem(nested(64)) == "Pod is nested deeper than 64 levels");
    CHECK(problem(nested(100'000)) == "Pod is nested deeper than 64 levels");

    args_limits small;
    small.bytes = 32;
    CHECK(problem(R"({"Pod":{},"NodeNames":["a","b"]})", small) == "none");
    CHECK(problem(R"({"Pod":{},"NodeNames":["a","bc"]})", small) ==
          "the body is larger than the limit of 32 bytes");
    notes heard;
    args_parser parser(heard, small);
    CHECK(parser.consume(std::string(32, ' ')));
    CHECK_FALSE(parser.consume(" "));
    CHECK(parser.too_large());
    CHECK_FALSE(parser.consume("{}"));
  }
}

}  // namespace args_parser_test
