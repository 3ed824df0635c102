// How much of a folder is taken, and what makes room for more.
#include "tests/agent/sources/textfile/textfile_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace textfile_bounds_test {

using namespace binnacle;
using namespace binnacle::agent;
using agent::test::entry_of;
using agent::test::shown;
using folder = agent::test::textfile_folder;

TEST_SUITE_BEGIN("agent/sources/textfile/bounds");

TEST_CASE("bounds on series, bytes and files are kept and named") {
  SUBCASE("series") {
    folder f({.names = std::make_shared<foreign_names>(foreign_names::bounds{.series = 2})});
    f.settled("a.prom", "a 1\nb 1\nc 1\n");
    f.look();
    CHECK(f.out.live_series() == 4);  // including the two series about the file
    CHECK(f.refused("bound") == 1);
    CHECK(f.source.limitation().find("c and the series after it") != std::string::npos);
  }
  SUBCASE("bytes of a file") {
    folder f({.each = {.bytes = 100}});
    f.settled("a.prom", std::string(200, '#') + "\n");
    f.look();
    CHECK(shown(f.out, "textfile_read_success", {{"file", "a.prom"}}) == "0");
    CHECK(f.source.limitation().find("larger than the 100 bytes") != std::string::npos);
  }
  SUBCASE("series of a file") {
    folder f({.each = {.series = 1}});
    f.settled("a.prom", "a 1\nb 1\n");
    f.look();
    CHECK(shown(f.out, "textfile_read_success", {{"file", "a.prom"}}) == "0");
    CHECK(shown(f.out, "a") == "no such series");
    CHECK(f.source.limitation().find("line 2: more than 1 series (\"b\" is the next), so the whole text "
                                     "is refused: write fewer series, or split the text") !=
          std::string::npos);
  }
  SUBCASE("bytes of names") {
    folder f({.names = std::make_shared<foreign_names>(foreign_names::bounds{.bytes = 200})});
    f.settled("a.prom", "a{l=\"" + std::string(500, 'x') + "\"} 1\nb 1\n");
    f.look();
    CHECK(shown(f.out, "b").substr(0, 1) == "1");
    CHECK(f.refused("bound") == 1);
  }
  SUBCASE("files") {
    folder f({.files = 1});
    f.settled("a.prom", "a 1\n");
    f.settled("b.prom", "b 1\n");
    f.look();
    CHECK(shown(f.out, "b") == "no such series");
    CHECK(f.source.limitation().find("1 file more than the 1 that is read") != std::string::npos);
  }
  SUBCASE("a name too long for the wire") {
    folder f;
    f.settled("a.prom", std::string(300, 'n') + " 1\nb 1\n");
    f.look();
    CHECK(shown(f.out, "b").substr(0, 1) == "1");
    CHECK(f.refused("invalid") == 1);
  }
}

TEST_CASE("series that are gone make room for those that are there, the one gone longest first") {
  folder f({.names = std::make_shared<foreign_names>(foreign_names::bounds{.series = 3})});
  const auto of = [](const char* pod) { return metrics::label_set{{"pod", pod}}; };
  f.settled("a.prom", "x{pod=\"1\"} 1\nx{pod=\"2\"} 1\n");
  f.look();
  f.settled("a.prom", "x{pod=\"2\"} 1\nx{pod=\"3\"} 1\n");
  f.look();
  CHECK(shown(f.out, "x", of("1")) == "missing");
  SUBCASE("in the same reading") {
    f.settled("a.prom", "x{pod=\"4\"} 4\nx{pod=\"5\"} 5\n");
    f.look();
    CHECK(shown(f.out, "x", of("1")) == "no such series");
    // Two series went in this reading, and there is room to keep one of them.
    CHECK((shown(f.out, "x", of("2")) == "missing") != (shown(f.out, "x", of("3")) == "missing"));
    CHECK(to_double(entry_of(f.out, "x", of("4"))->value) == 4);
    CHECK(to_double(entry_of(f.out, "x", of("5"))->value) == 5);
  }
  SUBCASE("for another file") {
    f.settled("b.prom", "y 7\n");
    f.look();
    CHECK(shown(f.out, "x", of("1")) == "no such series");
    CHECK(to_double(entry_of(f.out, "y")->value) == 7);
  }
  SUBCASE("one that came back is not given up") {
    f.settled("a.prom", "x{pod=\"1\"} 1\nx{pod=\"2\"} 1\n");
    f.look();
    f.settled("b.prom", "y 7\n");
    f.look();
    CHECK(shown(f.out, "x", of("1")).substr(0, 1) == "1");
    CHECK(shown(f.out, "x", of("3")) == "no such series");
    CHECK(to_double(entry_of(f.out, "y")->value) == 7);
  }
  CHECK(f.refused("bound") == 0);
  CHECK(f.source.limitation().empty());
}

TEST_CASE("series that are gone make room on a board that is full of bytes, too") {
  folder f({}, {.bytes = 2'000});
  const auto with_label = [](const char* pod, char filling) {
    return "x{pod=\"" + std::string(pod) + "\",l=\"" + std::string(800, filling) + "\"} 1\n";
  };
  const auto of = [](const char* pod, char filling) {
    return metrics::label_set{{"pod", pod}, {"l", std::string(800, filling)}};
  };
  f.settled("a.prom", with_label("1", 'a') + with_label("2", 'a'));
  f.look();
  SUBCASE("one label changes for all") {
    f.settled("a.prom", with_label("1", 'b') + with_label("2", 'b'));
    f.look();
    CHECK(shown(f.out, "x", of("1", 'b')).substr(0, 1) == "1");
    CHECK(shown(f.out, "x", of("2", 'b')).substr(0, 1) == "1");
    CHECK(f.refused("bound") == 0);
    CHECK(f.source.limitation().empty());
  }
  SUBCASE("a file written once is taken when there is room") {
    f.settled("b.prom", with_label("3", 'b'));
    f.look();
    CHECK(shown(f.out, "x", of("3", 'b')) == "no such series");
    CHECK(f.refused("bound") == 1);
    f.settled("a.prom", with_label("1", 'a'));
    f.look();
    f.look();
    CHECK(shown(f.out, "x", of("3", 'b')).substr(0, 1) == "1");
    CHECK(f.source.limitation().empty());
  }
}

TEST_CASE("files that are gone make room for new ones, the one gone longest first") {
  folder f({.files = 3});
  for (const auto* name : {"a.prom", "b.prom", "c.prom"})
    f.settled(name, std::string(name).substr(0, 1) + " 1\n");
  f.look();
  f.path.remove("b.prom");
  f.look();
  f.path.remove("a.prom");
  f.look();
  f.settled("d.prom", "d 1\n");
  f.look();
  CHECK(shown(f.out, "d").substr(0, 1) == "1");
  CHECK(shown(f.out, "b") == "no such series");
  CHECK(shown(f.out, "a") == "missing");
  f.settled("e.prom", "e 1\n");
  f.settled("f.prom", "f 1\n");
  f.look();
  CHECK(shown(f.out, "a") == "no such series");
  CHECK(shown(f.out, "e").substr(0, 1) == "1");
  CHECK(shown(f.out, "c").substr(0, 1) == "1");
  CHECK(shown(f.out, "f") == "no such series");
  CHECK(f.source.limitation().find("1 file more than the 3 that are read") != std::string::npos);
}

TEST_CASE(
    "a folder with too many entries is not looked at to its end, and a file that was there stays until it "
    "goes") {
  folder f({.entries = 20});
  f.settled("a.prom", "a 1\n");
  f.look();
  CHECK(f.source.limitation().empty());
  for (int i = 0; i < 200; ++i) f.settled(fmt::format("{}.txt", i), "");
  f.settled("a.prom", "a 2\n");
  f.look();
  CHECK(shown(f.out, "a").substr(0, 1) == "2");
  CHECK(
      f.source.limitation().find("more than 20 entries, which are not all looked at: move what is no *.prom "
                                 "file elsewhere") != std::string::npos);
  f.path.remove("a.prom");
  f.look();
  CHECK(shown(f.out, "a") == "missing");
  for (int i = 0; i < 200; ++i) f.path.remove(fmt::format("{}.txt", i));
  f.look();
  CHECK(f.source.limitation().empty());
}

// Before, the first of the files that the listing did not get to was parsed at every round, and no other one.
TEST_CASE("files that take long to parse take turns in a folder with too many entries, too") {
  folder f;
  duration spent{};
  auto clocks = f.clock.source();
  clocks.worked = [&spent] { return spent += std::chrono::milliseconds(30); };  // each file takes so long
  textfile_source slow({.folder = f.path.path(), .entries = 20}, clocks);
  REQUIRE(slow.discover(f.out));
  const std::vector<std::string> names{"a", "b", "c", "d"};
  const auto look = [&](int number) {
    for (const auto& name : names) f.settled(name + ".prom", fmt::format("{} {}\n", name, number));
    f.clock.now += std::chrono::seconds(1);
    REQUIRE(slow.read(f.out));
  };
  for (int round = 0; round < 8; ++round) look(1);
  for (int i = 0; i < 200; ++i) f.settled(fmt::format("{}.txt", i), "");
  for (int round = 0; round < 8; ++round) look(2);
  for (const auto& name : names) {
    CAPTURE(name);
    REQUIRE(entry_of(f.out, name) != nullptr);
    CHECK(to_double(entry_of(f.out, name)->value) == 2);
  }
}

TEST_CASE("a series that would not fit even after others are forgotten makes none of them be forgotten") {
  folder f({.names = std::make_shared<foreign_names>(foreign_names::bounds{.bytes = 400})});
  f.settled("a.prom", "a 1\nb 1\n");
  f.look();
  f.settled("a.prom", "a 1\nc{l=\"" + std::string(500, 'x') + "\"} 1\n");
  f.look();
  CHECK(f.refused("bound") == 1);
  CHECK(shown(f.out, "b") == "missing");
}

TEST_SUITE_END();

}  // namespace textfile_bounds_test
