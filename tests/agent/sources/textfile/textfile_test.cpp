#include "tests/agent/sources/textfile/textfile_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace textfile_test {

using namespace binnacle;
using namespace binnacle::agent;
using agent::test::entry_of;
using agent::test::shown;
using namespace std::chrono_literals;
using folder = agent::test::textfile_folder;

TEST_SUITE_BEGIN("agent/sources/textfile/textfile");

TEST_CASE("series keep their users' names, labels, types and values") {
  folder f;
  f.settled("health.prom",
            "# HELP node_health_metric 0 or 1\n# TYPE node_health_metric gauge\nnode_health_metric 1\n"
            "# TYPE jobs_total counter\njobs_total{queue=\"a b\",zone=\"x\"} 12.5\n");
  f.look();
  CHECK(shown(f.out, "node_health_metric").substr(0, 1) == "1");
  CHECK(to_double(entry_of(f.out, "jobs_total", {{"queue", "a b"}, {"zone", "x"}})->value) == 12.5);
  CHECK(entry_of(f.out, "jobs_total", {{"queue", "a b"}, {"zone", "x"}})->info.type ==
        metrics::kind::counter);
  CHECK(entry_of(f.out, "node_health_metric")->info.help == "0 or 1");
  CHECK(shown(f.out, "textfile_read_success", {{"file", "health.prom"}}) == "1");
  CHECK(std::stoll(shown(f.out, "textfile_mtime_seconds", {{"file", "health.prom"}})) > 1'700'000'000);
  CHECK(f.source.limitation().empty());
}

TEST_CASE("a file written once stays fresh: the age counts from the last look at it") {
  folder f;
  f.settled("a.prom", "a 1\n");
  for (int i = 0; i < 3; ++i) {
    f.look();
    CHECK(f.read_at("a.prom") == f.clock.now);
  }
}

TEST_CASE("a changed file is read again, also when it was written twice in one moment") {
  folder f;
  f.path.write("a.prom", "a 1\n");
  f.look();
  f.path.write("a.prom", "a 2\n");
  f.look();
  CHECK(to_double(entry_of(f.out, "a")->value) == 2);
}

TEST_CASE("a broken file takes its own series, and is named with its line") {
  folder f;
  f.settled("a.prom", "a 1\n");
  f.settled("b.prom", "b 1\n");
  f.look();
  f.settled("a.prom", "a 2\nthis is {no sample\n");
  f.look();
  CHECK(shown(f.out, "a") == "malformed");
  CHECK(to_double(entry_of(f.out, "b")->value) == 1);
  CHECK(shown(f.out, "textfile_read_success", {{"file", "a.prom"}}) == "0");
  CHECK(f.source.limitation().find("a.prom: line 2") != std::string::npos);
  const auto before = f.read_at("a.prom");
  f.look();
  CHECK(f.read_at("a.prom") == before);
  CHECK(f.read_at("b.prom") == f.clock.now);
  f.settled("a.prom", "a 3\n");
  f.look();
  CHECK(to_double(entry_of(f.out, "a")->value) == 3);
  CHECK(f.source.limitation().empty());
}

TEST_CASE("files that take long to parse take turns, and the others' values age") {
  folder f;
  for (const char* name : {"a", "b", "c"}) f.settled(std::string(name) + ".prom", std::string(name) + " 1\n");
  duration spent{};
  auto clocks = f.clock.source();
  clocks.worked = [&spent] { return spent += 30ms; };  // each file takes so long
  textfile_source slow({.folder = f.path.path()}, clocks);
  REQUIRE(slow.discover(f.out));
  const auto look = [&] {
    f.clock.now += 1s;
    REQUIRE(slow.read(f.out));
  };
  look();
  CHECK(shown(f.out, "a").substr(0, 1) == "1");
  CHECK(shown(f.out, "b") == "no such series");
  CHECK(slow.limitation().find("2 changed files wait") != std::string::npos);
  look();
  CHECK(shown(f.out, "b").substr(0, 1) == "1");
  look();
  CHECK(shown(f.out, "c").substr(0, 1) == "1");
  CHECK(slow.limitation().empty());
  CHECK(f.read_at("a.prom") == f.clock.now);  // it has not changed
}

TEST_CASE("a file that vanishes leaves its series missing, and after ten minutes forgotten") {
  folder f;
  f.settled("a.prom", "a 1\n");
  f.look();
  f.path.remove("a.prom");
  f.look();
  CHECK(shown(f.out, "a") == "missing");
  CHECK(shown(f.out, "textfile_read_success", {{"file", "a.prom"}}) == "missing");
  f.clock.now += 11min;
  f.look();
  CHECK(shown(f.out, "a") == "no such series");
  CHECK(f.out.live_series() == 0);
  f.settled("a.prom", "a 5\n");
  f.look();
  CHECK(to_double(entry_of(f.out, "a")->value) == 5);
}

TEST_CASE("a series that leaves its file is missing, then forgotten") {
  folder f;
  f.settled("a.prom", "a 1\nb 2\n");
  f.look();
  f.settled("a.prom", "a 1\n");
  f.look();
  CHECK(shown(f.out, "b") == "missing");
  f.clock.now += 11min;
  for (int i = 0; i < 60; ++i) f.look();
  CHECK(shown(f.out, "b") == "no such series");
  CHECK(to_double(entry_of(f.out, "a")->value) == 1);
}

TEST_CASE("a renamed file keeps its series") {
  folder f;
  f.settled("m.prom", "a 1\n");
  f.look();
  std::string name;
  SUBCASE("to one that is looked at before") { name = "a.prom"; }
  SUBCASE("to one that is looked at after") { name = "z.prom"; }
  std::filesystem::rename(f.path / "m.prom", f.path / name);
  f.look();
  CHECK(to_double(entry_of(f.out, "a")->value) == 1);
  CHECK(f.source.limitation().empty());
  CHECK(f.refused("duplicate") == 0);
}

TEST_CASE("a metric that moves to another file is there at the second look") {
  folder f;
  f.settled("m.prom", "a 1\nb 2\n");
  f.settled("c.prom", "c 3\n");
  f.settled("z.prom", "z 3\n");
  f.look();
  std::string name;
  SUBCASE("to one that is looked at before") { name = "c.prom"; }
  SUBCASE("to one that is looked at after") { name = "z.prom"; }
  f.settled(name, "a 9\n");
  f.settled("m.prom", "b 2\n");
  f.look();
  f.look();
  CHECK(to_double(entry_of(f.out, "a")->value) == 9);
  CHECK(f.source.limitation().empty());
}

TEST_CASE("a file caught half written leaves the values before it") {
  folder f;
  f.settled("a.prom", "a 1\nb 2\n");
  f.look();
  SUBCASE("just truncated") { f.path.write("a.prom", ""); }
  SUBCASE("within a line") { f.path.write("a.prom", "a 1\nb"); }
  f.look();
  CHECK(to_double(entry_of(f.out, "a")->value) == 1);
  CHECK(to_double(entry_of(f.out, "b")->value) == 2);
  CHECK(f.read_at("a.prom") < f.clock.now);
}

TEST_CASE("a file that ends within a line is absent: its last number may be a part of one") {
  folder f;
  f.settled("a.prom", "a 1\nb 1234\n");
  f.look();
  f.settled("a.prom", "a 1\nb 12");
  f.look();
  CHECK(shown(f.out, "a") == "malformed");
  CHECK(shown(f.out, "b") == "malformed");
  CHECK(f.source.limitation() ==
        (f.path / "a.prom") + ": line 2: the text is cut off: end its last line with a line feed");
  f.settled("a.prom", "a 1\nb 12\n");
  f.look();
  CHECK(to_double(entry_of(f.out, "b")->value) == 12);
  CHECK(f.source.limitation().empty());
}

TEST_CASE("a file that is written again and again without a last line feed is told, until it has one") {
  folder f;
  f.settled("a.prom", "a 1\n");
  f.look();
  f.path.write("a.prom", "a 2");
  f.look();
  CHECK(f.source.limitation().empty());
  // A look that comes a second late finds that the file has not changed for a while, and refuses it.
  for (int i = 0; i < 100 && f.source.limitation().find("all the time") == std::string::npos; ++i) {
    f.path.write("a.prom", "a 2");
    f.look();
  }
  CHECK(f.source.limitation() == (f.path / "a.prom") +
                                     ": it changes all the time and does not end in a line feed: end its "
                                     "last line with one, or write another file and rename that to this "
                                     "name");
  f.path.write("a.prom", "a 3\n");
  f.look();
  CHECK(to_double(entry_of(f.out, "a")->value) == 3);
  CHECK(f.source.limitation().empty());
}

TEST_CASE("an empty file that stays empty has no series") {
  folder f;
  f.settled("a.prom", "a 1\n");
  f.look();
  f.settled("a.prom", "");
  f.look();
  CHECK(shown(f.out, "a") == "missing");
  CHECK(shown(f.out, "textfile_read_success", {{"file", "a.prom"}}) == "1");
}

TEST_CASE("other files are left alone, and a path that is not a file does not hang the agent") {
  folder f;
  f.settled("a.txt", "a 1\n");
  f.settled(".hidden.prom", "b 1\n");
  REQUIRE(::mkfifo((f.path / "pipe.prom").c_str(), 0600) == 0);
  std::filesystem::create_directory(f.path / "folder.prom");
  std::filesystem::create_symlink("/nowhere", f.path / "link.prom");
  f.look();
  CHECK(shown(f.out, "a") == "no such series");
  CHECK(shown(f.out, "b") == "no such series");
  CHECK(shown(f.out, "textfile_read_success", {{"file", "pipe.prom"}}) == "0");
  CHECK(shown(f.out, "textfile_read_success", {{"file", "folder.prom"}}) == "0");
  CHECK(shown(f.out, "textfile_read_success", {{"file", "link.prom"}}) == "0");
}

// Before, two files whose names are one on the board had one group there. When one of them was forgotten, the
// other one went on writing to places on the board that other series had got by then.
TEST_CASE(
    "a file whose name is not UTF-8 or cannot be seen is left out, and touches no other file's series") {
  folder f;
  std::string name;
  SUBCASE("not UTF-8") { name = "n\xff.prom"; }
  SUBCASE("a control character") { name = "n\x1b.prom"; }
  f.settled("n?.prom", "b 1\n");
  f.settled(name, "a 1\n");
  f.look();
  CHECK(shown(f.out, "a") == "no such series");
  CHECK(shown(f.out, "b").substr(0, 1) == "1");
  CHECK(f.source.limitation() == f.path.path() +
                                     ": \"n?.prom\" is left out, because a name must be UTF-8 without "
                                     "characters that nobody sees: rename it");
  const auto probed = f.source.probe();
  REQUIRE(probed.size() == 2);
  CHECK(probed[0].how == finding::grade::broken);
  f.path.remove(name);
  f.look();
  CHECK(f.source.limitation().empty());
  f.clock.now += 11min;
  f.settled("c.prom", "c 1\n");
  f.look();
  CHECK(shown(f.out, "textfile_read_success", {{"file", "c.prom"}}) == "1");
  CHECK(shown(f.out, "b").substr(0, 1) == "1");
  f.path.remove("n?.prom");
  f.look();
  f.clock.now += 11min;
  f.look();
  CHECK(shown(f.out, "b") == "no such series");
  CHECK(shown(f.out, "c").substr(0, 1) == "1");
  CHECK(shown(f.out, "textfile_read_success", {{"file", "c.prom"}}) == "1");
}

TEST_CASE("of many files with names that cannot be used one is named") {
  folder f;
  f.settled("b\xff.prom", "b 1\n");
  f.settled("a\xff.prom", "a 1\n");
  f.look();
  CHECK(f.source.limitation() ==
        f.path.path() +
            ": \"a?.prom\" and others, 2 files, are left out, because a name must be "
            "UTF-8 without characters that nobody sees: rename them");
}

TEST_CASE("a user's link to another user's file is not followed, and nothing of it is quoted") {
  folder f;
  std::filesystem::create_symlink("/etc/passwd", f.path / "a.prom");  // root's, and readable
  if (::geteuid() == 0) REQUIRE(::lchown((f.path / "a.prom").c_str(), 65'534, 65'534) == 0);
  f.look();
  CHECK(shown(f.out, "textfile_read_success", {{"file", "a.prom"}}) == "0");
  CHECK(f.source.limitation().find("a.prom: a link to another user's file") != std::string::npos);
  CHECK(f.source.limitation().find("root:") == std::string::npos);
}

TEST_CASE("a link within the folder, as in a mounted ConfigMap, is followed") {
  folder f;
  f.settled("..data/a.prom", "a 1\n");
  std::filesystem::create_symlink("..data/a.prom", f.path / "a.prom");
  f.look();
  CHECK(to_double(entry_of(f.out, "a")->value) == 1);
}

TEST_CASE("without its folder the source fails with a remedy, and works when it is there") {
  folder f;
  f.settled("a.prom", "a 1\n");
  f.look();
  const auto elsewhere = f.path.path() + "-away";
  std::filesystem::rename(f.path.path(), elsewhere);
  const auto failed = f.source.read(f.out);
  REQUIRE(!failed);
  CHECK(failed.error().code == errc::not_found);
  CHECK(failed.error().message.find("textfile-directory") != std::string::npos);
  CHECK(shown(f.out, "a") == "missing");
  CHECK(f.source.probe().front().how == finding::grade::broken);
  std::filesystem::rename(elsewhere, f.path.path());
  f.look();
  CHECK(to_double(entry_of(f.out, "a")->value) == 1);
}

TEST_CASE("the probe lists each file with what is wrong in it") {
  folder f;
  CHECK(f.source.probe().front().what.find("no *.prom file yet") != std::string::npos);
  f.settled("a.prom", "a 1\nb 2\n");
  f.settled("b.prom", "not a metric line at all {\n");
  const auto found = f.source.probe();
  REQUIRE(found.size() == 2);
  CHECK(found[0].how == finding::grade::works);
  CHECK(found[0].what == "a.prom (2 series)");
  CHECK(found[1].how == finding::grade::broken);
  CHECK(found[1].why.find("line 1") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace textfile_test
