#include "tests/bench/power/curves_file.hpp"

#include <doctest/doctest.h>

#include <string>

namespace curves_file_test {

using namespace binnacle;
using namespace binnacle::bench;

namespace {

const std::string watts = "50, 71.1, 81, 91.1, 101, 112, 124, 136, 150, 164, 177";

/// The error for a text that cannot be used.
std::string trouble(const std::string& file, const std::string& text) {
  const auto read = parse_servers(file, text);
  CAPTURE(text);
  REQUIRE(read.has_error());
  return read.error().message;
}

}  // namespace

TEST_SUITE("bench/power/curves_file") {
  TEST_CASE("servers are read from YAML and from CSV alike") {
    const auto yaml =
        parse_servers("s.yaml", "- {name: \"Small, old\", cores: 28, watts: [" + watts +
                                    "]}\n- name: big\n  cores: 128\n  watts: [" + watts + "]\n");
    const auto csv =
        parse_servers("s.csv",
                      "name,cores,idle,10,20,30,40,50,60,70,80,90,100\n# two servers\n\n\"Small, old\", "
                      "28, " +
                          watts + "\r\nbig,128," + watts + "\n");
    REQUIRE(yaml.has_value());
    REQUIRE(csv.has_value());
    for (const auto* read : {&*yaml, &*csv}) {
      REQUIRE(read->size() == 2);
      CHECK((*read)[0].name == "Small, old");
      CHECK((*read)[0].cores == 28);
      REQUIRE((*read)[0].watts.size() == 11);
      CHECK((*read)[0].watts[1] == doctest::Approx(71.1));
      CHECK((*read)[1].name == "big");
      CHECK((*read)[1].watts.back() == 177);
    }
  }

  TEST_CASE("a name of CSV may have quotes in it") {
    const auto csv = parse_servers("s.csv", "\"a \"\"b\"\", c\",4," + watts + "\n\"\"\"d\"\"\",4," + watts);
    REQUIRE(csv.has_value());
    CHECK((*csv)[0].name == "a \"b\", c");
    CHECK((*csv)[1].name == "\"d\"");
  }

  TEST_CASE("what is wrong with a file is said in one sentence, with its place") {
    CHECK(trouble("s.txt", "") == "s.txt: is it YAML or CSV? Give it a name that ends in .yaml or .csv");
    CHECK(trouble("s.csv", "# nothing\n") == "s.csv: holds no server");
    CHECK(trouble("s.yaml", "[]") == "s.yaml: holds no server");
    CHECK(trouble("s.yaml", "name: x\n").starts_with("s.yaml: no list of servers"));
    CHECK(trouble("s.yaml", "- 7\n") == "s.yaml:1: no map of name, cores and watts");
    CHECK(trouble("s.yaml", "- {name: x, cores: 4, watt: []}\n").find("'watt' is not known") !=
          std::string::npos);
    CHECK(trouble("s.yaml", "- {name: x, cores: 4}\n") == "s.yaml:1: watts is no list");
    CHECK(trouble("s.yaml", "- {name: x, cores: four, watts: []}\n") ==
          "s.yaml:1, cores: 'four' is no number");
    CHECK(trouble("s.yaml", "- {name: x, cores: 4, watts: [1, 2, 3]}\n") ==
          "s.yaml:1: x has 3 watts: give 11, at idle, 10, 20 to 100 % of the load");
    CHECK(trouble("s.yaml", "- {name: x, cores: 4, watts: [1, [2]]}\n").find("'' is no number") !=
          std::string::npos);
    CHECK(trouble("s.yaml", "- {name: x\n").starts_with("s.yaml:"));
    CHECK(trouble("s.csv", "x,4,1,2\n") ==
          "s.csv:1: 4 fields: give a name, cores, and watts at idle, 10, 20 to 100 % of the load, 13 in all");
    CHECK(trouble("s.csv", "x,4,1,2,3,4,5,6,7,8,9,10,ten\n") == "s.csv:1: 'ten' is no number");
    CHECK(trouble("s.csv", ",4," + watts).find("the server has no name") != std::string::npos);
    CHECK(trouble("s.csv", "x,0," + watts).find("x has 0 cores") != std::string::npos);
    CHECK(trouble("s.csv", "x,nan," + watts).find("x has nan cores") != std::string::npos);
    CHECK(trouble("s.csv", "x,4,0,1,1,1,1,1,1,1,1,1,1\n").find("watts are finite and above 0") !=
          std::string::npos);
    CHECK(trouble("s.csv", "x,4," + watts + "\nx,4," + watts).starts_with("s.csv:2: x is there twice"));
    const auto absent = read_servers("/nowhere/s.csv");
    REQUIRE(absent.has_error());
    CHECK(absent.error().message.starts_with("/nowhere/s.csv cannot be read: "));
  }
}

}  // namespace curves_file_test
