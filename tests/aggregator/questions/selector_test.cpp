#include "aggregator/questions/selector.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace selector_test {

using namespace binnacle;
using questions::check_field_selector;
using questions::selector;

namespace {

bool matches(const std::string& text, const std::map<std::string, std::string>& labels) {
  const auto s = selector::parse(text);
  REQUIRE(s.has_value());
  const bool does = s->matches([&](std::string_view key) {
    const auto at = labels.find(std::string(key));
    return at == labels.end() ? std::nullopt : std::optional<std::string_view>(at->second);
  });
  // A series' labels stand in any order.
  CHECK(s->matches(metrics::label_set(labels.begin(), labels.end())) == does);
  CHECK(s->matches(metrics::label_set(labels.rbegin(), labels.rend())) == does);
  return does;
}

std::string object(const std::string& text) {
  const auto s = selector::parse(text);
  REQUIRE(s.has_value());
  std::string json;
  json_writer out(json);
  const auto written = s->write_label_selector(out);
  return written.has_error() ? "error: " + written.error().message : json;
}

}  // namespace

TEST_SUITE("aggregator/questions/selector") {
  TEST_CASE("each form of requirement selects what Kubernetes says it does") {
    struct row {
      const char* text;
      bool zone_a, zone_b, without;  // labels zone=a, zone=b, none
    };
    const row rows[] = {
        {"", true, true, true},
        {"  ", true, true, true},
        {"zone=a", true, false, false},
        {"zone==a", true, false, false},
        {"zone = a", true, false, false},
        {"zone!=a", false, true, true},
        {"zone in (a,b)", true, true, false},
        {"zone in (b)", false, true, false},
        {"zone in (a, )", true, false, false},
        {"zone notin (a)", false, true, true},
        {"zone notin(a,b)", false, false, true},
        {"zone", true, true, false},
        {"!zone", false, false, true},
        {"! zone", false, false, true},
        {"zone,zone!=b", true, false, false},
        {"zone=a,zone=b", false, false, false},
        {"zone=", false, false, false},
    };
    for (const row& r : rows) {
      CAPTURE(r.text);
      CHECK(matches(r.text, {{"zone", "a"}}) == r.zone_a);
      CHECK(matches(r.text, {{"zone", "b"}}) == r.zone_b);
      CHECK(matches(r.text, {}) == r.without);
    }
  }

  TEST_CASE("requirements are matched with the labels of their keys, however many both are") {
    const std::map<std::string, std::string> labels{
        {"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}, {"e", "5"}};
    CHECK(matches("e=5,a=1,c in (2,3),!f,d,d!=5,d>3,d<5", labels));
    CHECK_FALSE(matches("e=5,a=1,c in (2,3),!f,d,d!=5,d>3,d<4", labels));
    CHECK_FALSE(matches("e=5,a=1,c=2", labels));
    CHECK_FALSE(matches("a,b,c,d,e,f", labels));
    CHECK_FALSE(matches("!aa,!b", labels));
  }

  TEST_CASE("of two labels of one name the first counts") {
    const metrics::label_set labels{{"a", "1"}, {"a", "2"}};
    CHECK(selector::parse("a=1")->matches(labels));
    CHECK_FALSE(selector::parse("a=2")->matches(labels));
  }

  TEST_CASE("greater and less compare integers and refuse other values") {
    CHECK(matches("n>3", {{"n", "4"}}));
    CHECK_FALSE(matches("n>3", {{"n", "3"}}));
    CHECK(matches("n<3", {{"n", "-2"}}));
    CHECK_FALSE(matches("n<3", {{"n", "two"}}));
    CHECK_FALSE(matches("n<3", {}));
    CHECK(selector::parse("n>x").has_error());
  }

  TEST_CASE("keys may carry a DNS prefix") {
    CHECK(matches("kubernetes.io/hostname=n1", {{"kubernetes.io/hostname", "n1"}}));
    CHECK(matches("telemetry.aware.scheduling.power/rule_1",
                  {{"telemetry.aware.scheduling.power/rule_1", ""}}));
  }

  TEST_CASE("what cannot be parsed is said with what was found and what was expected") {
    struct row {
      const char* text;
      const char* message;
    };
    const row rows[] = {
        {"zone in a", "unable to parse requirement: found 'a', expected: '('"},
        {"zone in (a", "unable to parse requirement: found end of text, expected: ',' or ')'"},
        {"zone in (a b)", "unable to parse requirement: found 'b', expected: ',' or ')'"},
        {"zone=a b", "unable to parse requirement: found 'b', expected: ',' or end of text"},
        {"zone=a,", "unable to parse requirement: found end of text, expected: a label key after ','"},
        {",zone", "unable to parse requirement: found ',', expected: a label key"},
        {"=a", "unable to parse requirement: found '=', expected: a label key"},
        {"!", "unable to parse requirement: found end of text, expected: a label key"},
        {"!zone=a", "unable to parse requirement: found '=', expected: ',' or end of text"},
        {"zone a", "unable to parse requirement: found 'a', expected: one of =, ==, !=, in, notin, >, <"},
        {"zone===a", "unable to parse requirement: found '=', expected: ',' or end of text"},
        {"n>", "unable to parse requirement: '' after '>' must be an integer"},
    };
    for (const row& r : rows) {
      CAPTURE(r.text);
      const auto s = selector::parse(r.text);
      REQUIRE(s.has_error());
      CHECK(s.error().code == errc::invalid_input);
      CHECK(s.error().message == r.message);
    }
    for (const char* bad : {"-a=1", "a-=1", "Upper.Case/x=1", "/x=1", "a/=1", "a//b", "zone=-a", "zone=a_",
                            "zone=a/b", "z\xc3\xa4h=1"}) {
      CAPTURE(bad);
      CHECK(selector::parse(bad).has_error());
    }
    CHECK(selector::parse(std::string(63, 'a') + "=" + std::string(63, 'b')).has_value());
    CHECK(selector::parse(std::string(64, 'a') + "=b").has_error());
    CHECK(selector::parse("a=" + std::string(64, 'b')).has_error());
  }

  TEST_CASE("a selector has at most 32 requirements") {
    std::string text = "k0";
    for (int i = 1; i < 32; ++i) text += ",!k" + std::to_string(i);
    CHECK(matches(text, {{"k0", ""}}));
    const auto more = selector::parse(text + ",k32");
    REQUIRE(more.has_error());
    CHECK(more.error().code == errc::invalid_input);
    CHECK(more.error().message.starts_with("a selector has at most 32 requirements"));
  }

  TEST_CASE("the canonical text is in key order with sorted values") {
    CHECK(selector::parse("z=1, b notin (y,x,x) ,!c,d==2,e!=3,f,g>4,h<5")->text() ==
          "b notin (x,y),!c,d==2,e!=3,f,g>4,h<5,z=1");
    CHECK(selector::parse("")->text().empty());
  }

  TEST_CASE("the LabelSelector object says the same") {
    CHECK(object("") == "null");
    CHECK(object("zone=a") == R"({"matchLabels":{"zone":"a"}})");
    CHECK(object("b==2,a=1") == R"({"matchLabels":{"a":"1","b":"2"}})");
    CHECK(object("a=1,a=2") == R"({"matchLabels":{"a":"2"}})");
    CHECK(
        object("zone=a,x!=1,y in (c,b),z notin (d),u,!v") ==
        R"({"matchLabels":{"zone":"a"},"matchExpressions":[{"key":"u","operator":"Exists"},)"
        R"({"key":"v","operator":"DoesNotExist"},{"key":"x","operator":"NotIn","values":["1"]},)"
        R"({"key":"y","operator":"In","values":["b","c"]},{"key":"z","operator":"NotIn","values":["d"]}]})");
    CHECK(object("n>1") ==
          "error: \"n>1\" is not possible in a metricLabelSelector: use =, !=, in, notin or the key alone");
  }
}

TEST_SUITE("aggregator/questions/field_selector") {
  TEST_CASE("only metadata.name equal to the name in the path is taken") {
    struct row {
      const char* text;
      const char* message;
    };
    const row rows[] = {
        {"", ""},
        {"metadata.name=n1", ""},
        {"metadata.name==n1", ""},
        {"metadata.name=n2", "fieldSelector metadata.name doesn't match requested name"},
        {"metadata.name!=n1", "fieldSelector metadata.name doesn't match requested name"},
        {"metadata.name=n1,metadata.name=n2", "fieldSelector metadata.name doesn't match requested name"},
        {"spec.unschedulable=true", "field label not supported: spec.unschedulable"},
        {"metadata.name",
         "invalid field selector: cannot understand 'metadata.name', expected metadata.name=NAME"},
    };
    for (const row& r : rows) {
      CAPTURE(r.text);
      const auto ok = check_field_selector(r.text, "n1");
      CHECK((ok.has_error() ? ok.error().message : "") == r.message);
    }
    CHECK(check_field_selector("metadata.name=n1", "*").has_error());
  }
}

}  // namespace selector_test
