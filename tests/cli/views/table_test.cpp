#include "cli/views/table.hpp"

#include "cli/views/units.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace table_test {

using namespace binnacle;
using namespace binnacle::cli;

TEST_SUITE("cli/views/table") {
  TEST_CASE("columns are aligned by characters, not bytes, and lines end with text") {
    table t;
    t.column("NAME");
    t.column("TEMP", align::right);
    t.column("NOTE");
    t.row({{"a"}, {"61.5 °C"}, {"x"}});
    t.row({{"long-name"}, {"7 °C"}});
    t.row({{""}, {""}, {"y"}});
    CHECK(t.lines({}) == std::vector<std::string>{"NAME          TEMP  NOTE", "a          61.5 °C  x",
                                                  "long-name     7 °C", "                    y"});
  }

  TEST_CASE("colours are for terminals that want them") {
    CHECK(colours_wanted(true, nullptr, "xterm"));
    CHECK(colours_wanted(true, "", nullptr));
    CHECK_FALSE(colours_wanted(false, nullptr, "xterm"));
    CHECK_FALSE(colours_wanted(true, "1", "xterm"));
    CHECK_FALSE(colours_wanted(true, nullptr, "dumb"));
  }
}

TEST_SUITE("cli/views/units") {
  TEST_CASE("numbers read with their unit") {
    struct row {
      double value;
      const char* unit;
      const char* text;
    };
    const row rows[] = {
        {71.44, "watts", "71.4 W"},     {0, "watts", "0 W"},
        {-4.25, "celsius", "-4.2 °C"},  {0.342, "ratio", "34.2 %"},
        {1, "ratio", "100 %"},          {512, "bytes", "512 B"},
        {8589934592, "bytes", "8 GiB"}, {3'299'534'883'328, "bytes", "3 TiB"},
        {1500, "joules", "1.5 kJ"},     {2.4e9, "hertz", "2.4 GHz"},
        {12.5, "seconds", "12.5 s"},    {3, "", "3"},
        {80.04, "watts", "80 W"},       {0.5, "", "0.5"},
        {0.1234, "", "0.123"},          {1234567, "", "1234567"},
        {12.34, "parsecs", "12.3"},
    };
    for (const row& r : rows) {
      CAPTURE(r.value);
      CAPTURE(r.unit);
      CHECK(with_unit(r.value, r.unit) == r.text);
    }
  }

  TEST_CASE("reasons and counts are words") {
    CHECK(reason_words("not_read_yet") == "not read yet");
    CHECK(reason_words("disconnected") == "link down");
    CHECK(reason_words("stale") == "stale");
    CHECK(counted(1, "node") == "1 node");
    CHECK(counted(0, "node") == "0 nodes");
  }
}

}  // namespace table_test
