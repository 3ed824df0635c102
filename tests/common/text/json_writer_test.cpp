#include "common/text/json_writer.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

using namespace binnacle;

namespace {

std::string as_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace

TEST_SUITE("common/text/json_writer") {
  TEST_CASE("strings are escaped and stay readable") {
    CHECK(as_json("plain") == R"("plain")");
    CHECK(as_json("") == R"("")");
    CHECK(as_json("a\"b\\c/d") == R"("a\"b\\c/d")");
    CHECK(as_json("line\nfeed\ttab\rreturn") == R"("line\nfeed\ttab\rreturn")");
    CHECK(as_json(std::string_view("nul\0bell\x07", 9)) == R"("nul\u0000bell\u0007")");
    CHECK(as_json("Grad \xc2\xb0"
                  "C, \xe2\x82\xac, \xf0\x9f\x98\x80") ==
          "\"Grad \xc2\xb0"
          "C, \xe2\x82\xac, \xf0\x9f\x98\x80\"");
  }

  TEST_CASE("what needs escaping is found at each place of a text of any length, also of a key") {
    for (int c = 0; c < 256; ++c) {
      const std::string alone = as_json(std::string(1, static_cast<char>(c)));
      for (const std::size_t size : {1u, 7u, 8u, 9u, 16u, 23u, 126u, 127u, 200u}) {
        for (std::size_t at = 0; at < size; at += at < 30 ? 1 : 29) {
          std::string text(size, 'x');
          text[at] = static_cast<char>(c);
          const std::string wanted = '"' + std::string(at, 'x') + alone.substr(1, alone.size() - 2) +
                                     std::string(size - at - 1, 'x') + '"';
          REQUIRE(as_json(text) == wanted);
          std::string object;
          json_writer(object).begin_object().field("a", 1).field(text, 2).end_object();
          REQUIRE(object == "{\"a\":1," + wanted + ":2}");
        }
      }
    }
    CHECK(as_json("\n") == R"("\n")");
  }

  TEST_CASE("what nobody sees and a terminal may obey is escaped, also in a text that is else plain") {
    CHECK(as_json("\xc2\x9b"
                  "31mred") == R"("\u009b31mred")");
    CHECK(as_json("del\x7f"
                  "ete") == R"("del\u007fete")");
    CHECK(as_json("a long and plain text\x7f") == R"("a long and plain text\u007f")");
    CHECK(as_json("turn\u202e round\u2069") == R"("turn\u202e round\u2069")");
    CHECK(as_json("tag\U000e0041") == R"("tag\udb40\udc41")");
    CHECK(as_json("~\u00a0\u00e9") == "\"~\u00a0\u00e9\"");
  }

  TEST_CASE("bytes that are no UTF-8 become the replacement character, one each") {
    const std::string r = "\xef\xbf\xbd";
    CHECK(as_json("a\xff"
                  "b") == "\"a" + r + "b\"");
    CHECK(as_json("\xc0\xaf") == "\"" + r + r + "\"");                  // overlong
    CHECK(as_json("\xed\xa0\x80") == "\"" + r + r + r + "\"");          // a surrogate
    CHECK(as_json("\xf4\x90\x80\x80") == "\"" + r + r + r + r + "\"");  // above U+10FFFF
    CHECK(as_json("\xe2\x82") == "\"" + r + r + "\"");                  // cut off
  }

  TEST_CASE("commas fall where they belong") {
    std::string text;
    json_writer out(text);
    out.begin_object()
        .field("a", 1)
        .key("list")
        .begin_array()
        .value(true)
        .value("x")
        .null()
        .begin_object()
        .end_object();
    out.begin_array()
        .end_array()
        .end_array()
        .field("d", decimal{1234, -1})
        .field("n", std::int64_t{-7})
        .key("raw")
        .raw("[1,2]");
    out.end_object();
    CHECK(text == R"({"a":1,"list":[true,"x",null,{},[]],"d":123.4,"n":-7,"raw":[1,2]})");
  }

  TEST_CASE("a double has as many digits as asked for, and what is no number becomes null") {
    std::string text;
    json_writer out(text);
    out.begin_array().figure(2.5, 3).figure(-0.04, 1).figure(9e20, 0);
    out.figure(std::numeric_limits<double>::infinity(), 1).figure(std::nan(""), 1).end_array();
    CHECK(text == "[2.500,-0.0,900000000000000000000,null,null]");
  }

  TEST_CASE("pretty JSON is indented like kube-apiserver's and leaves strings alone") {
    CHECK(pretty_json(R"({"a":1,"b":[],"c":{},"d":[1,{"e":"x{,:\"}"}]})") == R"({
  "a": 1,
  "b": [],
  "c": {},
  "d": [
    1,
    {
      "e": "x{,:\"}"
    }
  ]
})");
    CHECK(pretty_json("{}\n") == "{}\n");
  }
}
