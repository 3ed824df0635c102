// What is taken of a file's text.
#include "tests/agent/sources/textfile/textfile_folder.hpp"

#include <doctest/doctest.h>

#include <string>

namespace textfile_text_test {

using namespace binnacle;
using namespace binnacle::agent;
using agent::test::entry_of;
using agent::test::shown;
using folder = agent::test::textfile_folder;

TEST_SUITE_BEGIN("agent/sources/textfile/text");

TEST_CASE("a name of ours is refused by name, the rest of the file counts") {
  folder f;
  f.settled("a.prom", "rapl_power_watts{package=\"0\"} 5\nmine 1\n");
  f.look();
  CHECK(shown(f.out, "rapl_power_watts", {{"package", "0"}}) == "no such series");
  CHECK(to_double(entry_of(f.out, "mine")->value) == 1);
  CHECK(f.source.limitation().find("rapl_power_watts is a metric of Binnacle's own") != std::string::npos);
  CHECK(f.refused("built_in_name") == 1);
}

TEST_CASE("a series twice counts once: the first in a file, the first file by name") {
  folder f;
  f.settled("a.prom", "x{l=\"1\",m=\"2\"} 1\nx{m=\"2\",l=\"1\"} 9\n");
  f.settled("b.prom", "x{l=\"1\",m=\"2\"} 7\ny 3\n");
  f.look();
  CHECK(to_double(entry_of(f.out, "x", {{"l", "1"}, {"m", "2"}})->value) == 1);
  CHECK(to_double(entry_of(f.out, "y")->value) == 3);
  CHECK(f.refused("duplicate") == 2);
}

TEST_CASE("timestamps are ignored and said so") {
  folder f;
  f.settled("a.prom", "a 1 1395066363000\n");
  f.look();
  CHECK(to_double(entry_of(f.out, "a")->value) == 1);
  CHECK(f.source.limitation().find("1 line has a timestamp") != std::string::npos);
}

TEST_CASE("what costs values is told before a remark, of the same file and of others") {
  folder f;
  f.settled("a.prom", "a 1 1395066363000\nb 1 1395066363000\n");
  f.look();
  CHECK(f.source.limitation() == (f.path / "a.prom") +
                                     ": 2 lines have a timestamp, which is ignored: the age "
                                     "counts from the reading");
  SUBCASE("of the same file") {
    f.settled("a.prom", "a 1 1395066363000\nrapl_power_watts 5\n");
    f.look();
    CHECK(f.source.limitation().starts_with((f.path / "a.prom") + ": rapl_power_watts is a metric"));
  }
  SUBCASE("of another") {
    f.settled("z.prom", "broken broken broken\n");
    f.look();
    CHECK(f.source.limitation().starts_with((f.path / "z.prom") + ": line 1"));
  }
  CHECK(f.source.limitation().ends_with(" (and 1 problem more)"));
}

TEST_CASE("a number smaller than any double is 0, as Go reads it") {
  folder f;
  f.settled("a.prom", "a 1e-400\nb -1e-400\nc 1\n");
  f.look();
  CHECK(to_double(entry_of(f.out, "a")->value) == 0);
  CHECK(to_double(entry_of(f.out, "b")->value) == 0);
  CHECK(to_double(entry_of(f.out, "c")->value) == 1);
}

TEST_CASE("NaN and infinities are absent") {
  folder f;
  f.settled("a.prom", "a NaN\nb +Inf\nc 1\n");
  f.look();
  CHECK(shown(f.out, "a") == "out_of_range");
  CHECK(shown(f.out, "b") == "out_of_range");
}

// Before, such a label made the aggregator refuse the whole node.
TEST_CASE("a label that no aggregator takes costs its series alone, and is named") {
  folder f;
  f.settled("a.prom", std::string("a{l=\"x\0y\"} 1\nb 1\n", 17));
  f.look();
  CHECK(shown(f.out, "b").substr(0, 1) == "1");
  CHECK(f.refused("invalid") == 1);
  CHECK(f.source.limitation().find("the value of label l at a is longer than 1 KiB or not UTF-8") !=
        std::string::npos);
}

TEST_SUITE_END();

}  // namespace textfile_text_test
