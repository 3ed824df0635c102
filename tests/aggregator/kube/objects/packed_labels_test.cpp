#include "aggregator/kube/objects/packed_labels.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <string>

namespace packed_labels_test {

using namespace binnacle::kube;

namespace {

packed_labels packed(const char* text) {
  const auto value = boost::json::parse(text);
  return packed_labels(&value.get_object());
}

}  // namespace

TEST_SUITE("aggregator/kube/objects/packed_labels") {
  TEST_CASE("labels stand in the order of their keys, whatever order they came in") {
    const auto labels = packed(R"({"zone":"a","app":"web","x":1,"empty":"","app.io/b":"c"})");
    std::string all;
    labels.each([&all](std::string_view key, std::string_view value) {
      all.append(key).append("=").append(value).append(" ");
    });
    CHECK(all == "app=web app.io/b=c empty= zone=a ");
    CHECK(labels == packed(R"({"app":"web","app.io/b":"c","empty":"","zone":"a"})"));
  }

  TEST_CASE("a finder finds each label, in whatever order its keys are asked for, and as often as they are") {
    const auto labels = packed(R"({"b":"1","d":"2","f":"3","h":""})");
    const auto expect = [&labels](packed_labels::finder& f, const char* key) {
      CAPTURE(key);
      CHECK(f(key) == labels.find(key));
    };
    CHECK(labels.find("f").value() == "3");
    CHECK(labels.find("h").value().empty());
    for (const char* missing : {"", "a", "c", "g", "z"}) CHECK_FALSE(labels.find(missing).has_value());
    packed_labels::finder ascending(labels);
    for (const char* key : {"a", "b", "b", "c", "d", "d", "e", "f", "h", "h", "z", "z"})
      expect(ascending, key);
    packed_labels::finder any(labels);
    for (const char* key : {"z", "h", "a", "f", "b", "d", "d", "c", "h", "b", "b"}) expect(any, key);
    packed_labels none;
    packed_labels::finder in_none(none);
    CHECK_FALSE(in_none("a").has_value());
  }
}

}  // namespace packed_labels_test
