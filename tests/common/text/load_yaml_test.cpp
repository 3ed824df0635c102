#include "common/text/load_yaml.hpp"

#include <doctest/doctest.h>
#include <yaml-cpp/yaml.h>

#include <string>

using namespace binnacle;

namespace {

/// "line: what is wrong", with lines counted from 1; "none" if nothing is wrong.
std::string fault(const std::string& yaml) {
  try {
    load_yaml(yaml);
  } catch (const YAML::Exception& e) {
    return std::to_string(e.mark.line + 1) + ": " + e.msg;
  }
  return "none";
}

const std::string never =
    "the double quote that opens here is never closed: write another at the end of its text";

TEST_SUITE("common/text/load_yaml") {
  TEST_CASE("a quote that is never closed is reported where it opens, whatever stands behind it") {
    for (const char* rest : {"", "\n", "\nspec: 2\n", "\n\n\n", " # it's\nb: 'c'\n", "\n---\nb: 1\n"}) {
      CAPTURE(std::string(rest));
      CHECK(fault("ü: 1\nname: \"power" + std::string(rest)) == "2: " + never);
    }
    CHECK(fault("x: 1\n\"a: 2\n") == "2: " + never);
    CHECK(fault("\"a: 2\n") == "1: " + never);
    CHECK(fault("a:\n- b\n- \"c\n") == "3: " + never);
    CHECK(fault("a: 'it''s\nb: 1\n") ==
          "1: the single quote that opens here is never closed: write another at the end of its text");
    CHECK(fault("a: [\"x\", 'b, c]\nd: 4\n")
              .starts_with("1: the single quote that opens here is never closed"));
    CHECK(fault("a: 'x'\nb: \"y\\\"\n") == "2: " + never);
    CHECK(fault("x: 1\nit's: \"y") == "2: " + never);
    CHECK(fault("a: &a [1, *a]\n") == "none");
  }

  TEST_CASE("a quote that ends at the next one is told where it opens, with how far it went") {
    CHECK(fault("a: 1\nname: \"power\nspec:\n  x: \"y\"\n") ==
          "2: the double quote that opens here is closed only 2 lines below: write another at the end of its "
          "text");
    CHECK(fault("a: \"x: y\nb: \"z\" # c\nd: 3\n")
              .starts_with("1: the double quote that opens here is closed only one line"));
    CHECK(fault("- 'a\n- 'b'\n").starts_with("1: the single quote"));
  }

  TEST_CASE("a text of several lines is no mistake, and other mistakes are not blamed on a quote") {
    CHECK(fault("a: \"x\n  y\"\nb: 'it''s\n\n  so'\n") == "none");
    CHECK(fault("a: \"x\"\nb: \"\\\"\"\n") == "none");
    CHECK(fault("a: 5\" disk\nb: it's\n") == "none");
    CHECK(fault("") == "none");
    CHECK(fault("a: |\n  \"x\n  y\n") == "none");
    CHECK(fault("a: \"x\n  y\"\nb: [1\nc: 2\n").find("quote") == std::string::npos);
    CHECK(fault("a: \"x\"\nb: [1\nc: 2\n").find("quote") == std::string::npos);
    CHECK(fault("a: \"x\" y\n").find("quote") == std::string::npos);
    CHECK(fault("a: b: c\n") == "1: " + std::string(YAML::ErrorMsg::MAP_VALUE));
  }

  TEST_CASE("each document of several is read, and the last is looked at") {
    CHECK(load_all_yaml("a: 1\n---\nb: \"x\"\n").size() == 2);
    CHECK(load_all_yaml("").empty());
    CHECK_THROWS_AS(load_all_yaml("a: 1\n---\nb: \"x\n"), YAML::ParserException);
  }
}

}  // namespace
