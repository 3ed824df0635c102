#include "common/text/text.hpp"

#include <doctest/doctest.h>

using namespace binnacle;

TEST_SUITE("common/text") {
  TEST_CASE("only ASCII letters are lowered") {
    CHECK(lowered("Content-Type: A[Z]\xc3\x84") == "content-type: a[z]\xc3\x84");
    CHECK(lowered("") == "");
  }

  TEST_CASE("numbers and words stand between blanks and line ends, and nothing else") {
    CHECK(trimmed(" \t a b\r\n") == "a b");
    CHECK(trimmed(" \n").empty());
    CHECK(parse_unsigned(" 42\n") == 42u);
    CHECK(parse_unsigned("18446744073709551615") == UINT64_MAX);
    CHECK(parse_integer("-42\n") == -42);
    for (const char* bad : {"", " ", "4 2", "42x", "+1", "0x1", "-1", "18446744073709551616"}) {
      CAPTURE(bad);
      CHECK_FALSE(parse_unsigned(bad).has_value());
    }
    CHECK_FALSE(parse_integer("--1").has_value());
  }

  TEST_CASE("what is quoted is short, keeps its language and cannot move a cursor") {
    CHECK(in_quotes("a b") == "\"a b\"");
    CHECK(in_quotes("Wärme 温度") == "\"Wärme 温度\"");
    CHECK(in_quotes("a\x1b[2J\n\xff\x7f") == "\"a?[2J???\"");
    CHECK(in_quotes("a\u202eb\u200bc") == "\"a?b?c\"");
    CHECK(in_quotes(std::string(60, 'x')) == "\"" + std::string(60, 'x') + "\"");
    CHECK(in_quotes(std::string(61, 'x')) == "\"" + std::string(60, 'x') + "…\"");
    CHECK(in_quotes(std::string(59, 'x') + "é") == "\"" + std::string(59, 'x') + "…\"");
    CHECK(in_quotes("abc", 3) == "\"abc\"");
    CHECK(in_quotes("abcd", 3) == "\"abc…\"");
  }

  TEST_CASE("a host and its port, IPv6 in brackets, a star for every address") {
    CHECK(host_and_port("10.0.0.7", 9103) == "10.0.0.7:9103");
    CHECK(host_and_port("fe80::1", 9103) == "[fe80::1]:9103");
    CHECK(host_and_port("", 9103) == "*:9103");
  }
}
