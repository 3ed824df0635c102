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

  TEST_CASE("defect: a byte order mark was taken for a part of the first line") {
    for (const char* first : {"name,cores,idle,10,20,30,40,50,60,70,80,90,100\n", ""}) {
      const auto csv = parse_servers("s.csv", std::string("\xef\xbb\xbf") + first + "a,4," + watts);
      REQUIRE(csv.has_value());
      CHECK(csv->front().name == "a");
    }
    CHECK(parse_servers("s.yaml", "\xef\xbb\xbf- {name: a, cores: 4, watts: [" + watts + "]}\n").has_value());
  }

  TEST_CASE("defect: watts that fall became a flat curve without a word") {
    CHECK(trouble("s.csv", "a,16,300,40,50,60,70,80,90,100,110,120,130") ==
          "s.csv:1: a: the watts fall from 300 to 40 at 10 % of the load: a server's rise with its load");
    CHECK_MESSAGE(parse_servers("s.csv", "a,16,50,52,51,60,70,80,90,100,110,120,119").has_value(),
                  "measured curves have dips");
  }

  TEST_CASE("a kind of YAML may say how many servers there are of it") {
    const auto yaml = parse_servers("s.yaml", "- {name: a, count: 60, cores: 8, watts: [" + watts + "]}\n");
    REQUIRE(yaml.has_value());
    CHECK(yaml->front().count == 60);
    const auto with = [](const std::string& count) {
      return trouble("s.yaml", "- {name: a, count: " + count + ", cores: 8, watts: [" + watts + "]}\n");
    };
    CHECK(with("0") == "s.yaml:1: a is there 0 times: give 1 to 1000");
    CHECK(with("many") == "s.yaml:1: count: 'many' is no whole number");
    CHECK(with("-1") == "s.yaml:1: count: '-1' is no whole number");
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
