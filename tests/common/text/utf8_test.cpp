#include "common/text/utf8.hpp"

#include <doctest/doctest.h>

#include <string>

using binnacle::find_invalid_utf8;

TEST_SUITE("common/text/utf8") {
  TEST_CASE("well-formed text passes at any length and place") {
    for (std::string character : {"a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                                  "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
      for (std::size_t before = 0; before < 20; ++before) {
        const std::string text = std::string(before, 'x') + character + "yz";
        CAPTURE(text);
        CHECK(find_invalid_utf8(text) == std::string::npos);
      }
    }
    CHECK(find_invalid_utf8("") == std::string::npos);
  }

  // The ill-formed sequences of RFC 3629 section 4 and Unicode table 3-7.
  TEST_CASE("what is ill-formed can be replaced, the rest stays") {
    CHECK(binnacle::clean_utf8("") == "");
    CHECK(binnacle::clean_utf8("caf\xc3\xa9") == "caf\xc3\xa9");
    CHECK(binnacle::clean_utf8("\xff"
                               "a\xc3") == "?a?");
    CHECK(binnacle::clean_utf8("\xe2\x82"
                               "x") == "??x");
  }

  TEST_CASE("ill-formed text is found where it begins") {
    for (std::string bad : {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2x", "\xe0\x9f\xbf",
                            "\xe0\xa0", "\xed\xa0\x80", "\xef\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
                            "\xf5\x80\x80\x80", "\xf0\x90\x80", "\xff", "\xfe"}) {
      for (std::size_t before : {0u, 1u, 7u, 8u, 9u, 17u}) {
        CAPTURE(before);
        CHECK(find_invalid_utf8(std::string(before, 'x') + bad) == before);
        CHECK(find_invalid_utf8(std::string(before, 'x') + bad + "and more text") == before);
      }
    }
  }

  TEST_CASE("what a terminal would obey is a question mark, characters are not") {
    CHECK(binnacle::printable("a\x1b[2J\n\t\x7f"
                              "b") == "a?[2J???b");
    CHECK(binnacle::printable("\xc2\x80\xc2\x9f\xc2\xa0\xc3\x9c") == "??\xc2\xa0\xc3\x9c");
    CHECK(binnacle::printable("\xc2").size() == 1);
    CHECK(binnacle::printable("\x80x") == "\x80x");
  }

  TEST_CASE("what nobody would see is a question mark: turned directions, characters of no width") {
    for (const char* unseen :
         {"\u061c", "\u200b", "\u200c", "\u200d",     "\u200e",    "\u200f", "\u2028", "\u202a",
          "\u202b", "\u202c", "\u202d", "\u202e",     "\u2060",    "\u2066", "\u2067", "\u2068",
          "\u2069", "\ufeff", "\u00ad", "\u034f",     "\u115f",    "\u1160", "\u180b", "\u3164",
          "\ufe00", "\ufe0f", "\uffa0", "\U000e0000", "\U000e0fff"}) {
      CAPTURE(std::string(unseen));
      CHECK(binnacle::printable("node" + std::string(unseen) + "7") == "node?7");
    }
    for (const char* seen :
         {"\u00ac", "\u00ae", "\u0301", "\u061b", "\u115e", "\u1161", "\u200a", "\u2010", "\u2027", "\u202f",
          "\u205f", "\u2070", "\ufdff", "\ufe10", "\ufefe", "\uffa1", "\ufffd", "\U0001f600", "\U000e1000"})
      CHECK(binnacle::printable(seen) == seen);
  }

  TEST_CASE("text is cut between two characters") {
    CHECK(binnacle::clip("aé", 2) == "a");
    CHECK(binnacle::clip("aé", 3) == "aé");
    CHECK(binnacle::clip("aé", 9) == "aé");
    CHECK(binnacle::clip("é", 1).empty());
  }
}
