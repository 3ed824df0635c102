#include "cli/terminal_text.hpp"

#include "cli/views/table.hpp"

#include <doctest/doctest.h>

#include <locale.h>
#include <string>
#include <vector>

namespace terminal_text_test {

using namespace binnacle::cli;

namespace {

/// In the locale that know_characters() takes here; afterwards in the one before.
struct characters {
  characters() { know_characters(); }
  ~characters() { setlocale(LC_CTYPE, before.c_str()); }
  const std::string before = setlocale(LC_CTYPE, nullptr);
};

std::string times(int count, std::string_view what) {
  std::string out;
  while (count-- > 0) out += what;
  return out;
}

}  // namespace

TEST_SUITE("cli/terminal_text") {
  TEST_CASE("columns are those of a terminal") {
    const characters known;
    CHECK(columns_of("") == 0);
    CHECK(columns_of("node-1 61.5 °C") == 14);
    CHECK(columns_of("\u7bc0\u70b9") == 4);        // wide
    CHECK(columns_of("no\u0301de") == 4);          // a mark
    CHECK(columns_of("\U0001f525") == 2);          // a picture
    CHECK(columns_of("\u1112\u1161\u11ab") == 2);  // a syllable of three letters
  }

  TEST_CASE(
      "whatever comes from outside takes the columns that it is counted with, and a letter has four marks") {
    const characters known;
    struct row {
      std::string text, shown;
      std::size_t columns;
    };
    const row rows[] = {
        {"rack 7, \u7bc0 \u00e9 °", "rack 7, \u7bc0 \u00e9 °", 14},
        {"n" + times(120, "\u0301") + "x", "n" + times(4, "\u0301") + "x", 2},
        {"\u7bc0" + times(120, "\u0301"), "\u7bc0" + times(4, "\u0301"), 2},
        {times(3, "\u0301") + "x", "???x", 4},                       // marks on nothing
        {"a\u200db\u200c\u2060\ufeff", "a?b???", 6},                 // joiners
        {"\u202egpj\u2066\u200f", "?gpj??", 6},                      // directions
        {"\u2764\ufe0f", "\u2764?", 2},                              // another look, and width
        {"\U0001f44b\U0001f3fd", "\U0001f44b?", 3},                  // a tone of skin
        {"\U0001f1e9\U0001f1ea", "??", 2},                           // a flag
        {"\U0001f468\u200d\U0001f469", "\U0001f468?\U0001f469", 5},  // a family
        {"a\u00ad\u034f\u3164\uffa0\U000e0041b", "a?????b", 7},      // unseen
        {"\x1b[31m\x07", "?[31m?", 6},                               // obeyed
        {"\x80\xffx", "??x", 3},                                     // no UTF-8
        {"\U0010fffd\U0003fffd\ufdd0", "\U0010fffd??", 3},           // private; no character
    };
    for (const row& r : rows) {
      CAPTURE(r.text);
      CHECK(for_terminal(r.text) == r.shown);
      CHECK(columns_of(r.shown) == r.columns);
      CHECK(for_terminal(r.shown) == r.shown);
    }
  }

  TEST_CASE("a text is cut between characters") {
    const characters known;
    CHECK(shortened("°°°°", 4) == "°°°°");
    CHECK(shortened("°°°°", 3) == "°°…");
    CHECK(shortened("°°°°", 0).empty());
    CHECK(shortened("\u7bc0\u70b9\u6a5f", 5) == "\u7bc0\u70b9…");
    CHECK(shortened("\u7bc0\u70b9\u6a5f", 4) == "\u7bc0…");
    CHECK(shortened("no\u0301de", 3) == "no\u0301…");
    CHECK(shortened("no\u0301de", 4) == "no\u0301de");
  }

  TEST_CASE("columns of a table stay below each other") {
    const characters known;
    table t;
    t.column("NAME");
    t.column("VALUE", align::right);
    for (const std::string name : {"node", "\u7bc0\u70b9\u6a5f\u68b0", "no\u0301de"}) t.row({{name}, {"52"}});
    t.row({{for_terminal("n" + times(120, "\u0301"))}, {"7"}});
    std::vector<std::size_t> ends;
    for (const std::string& line : t.lines({})) ends.push_back(columns_of(line));
    CHECK(ends == std::vector<std::size_t>(5, 15));
  }
}

}  // namespace terminal_text_test
