#include "agent/sources/textfile/textfile.hpp"

#include "tests/agent/support.hpp"
#include "tests/support/temp_folder.hpp"

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
using agent::test::fake_clock;
using agent::test::shown;
using support::temp_folder;
using namespace std::chrono_literals;

namespace {

struct folder {
  explicit folder(textfile_options o = {}, board::bounds room = {})
      : out(room), source(with_path(std::move(o), path.path()), clock.source()) {
    REQUIRE(source.discover(out));
  }
  static textfile_options with_path(textfile_options o, const std::string& path) {
    o.folder = path;
    return o;
  }
  /// A file as it lies there when it was written some time ago.
  void settled(const std::string& name, std::string_view text) {
    path.write(name, text);
    std::filesystem::last_write_time(path / name, std::filesystem::file_time_type::clock::now() - 10s);
  }
  void look() {
    clock.now += 1s;
    REQUIRE(source.read(out));
  }
  instant read_at(const std::string& name) {
    for (const auto& g : out.groups()) {
      if (!g.removed && g.info.name == name) return g.read_at;
    }
    return {};
  }
  std::uint64_t refused(std::string_view reason) {
    for (const auto& r : out.refused()) {
      if (r.reason == reason) return r.count;
    }
    return 0;
  }

  temp_folder path;
  fake_clock clock;
  board out;
  textfile_source source;
};

}  // namespace

TEST_SUITE_BEGIN("agent/textfile");

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

TEST_CASE("a file that is written again and again without a last line feed is told, until it has one") {
  folder f;
  f.settled("a.prom", "a 1\n");
  f.look();
  f.path.write("a.prom", "a 2");
  f.look();
  CHECK(f.source.limitation().empty());
  // A look that comes a second late finds the file settled, and takes it.
  for (int i = 0; i < 100 && f.source.limitation().empty(); ++i) {
    f.path.write("a.prom", "a 2");
    f.look();
  }
  CHECK(f.source.limitation() == (f.path / "a.prom") +
                                     ": it changes all the time and does not end in a line feed: end it with "
                                     "one, or write it aside and rename it");
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

// It made the aggregator refuse the whole node.
TEST_CASE("a label that no aggregator takes costs its series alone, and is named") {
  folder f;
  f.settled("a.prom", std::string("a{l=\"x\0y\"} 1\nb 1\n", 17));
  f.look();
  CHECK(shown(f.out, "b").substr(0, 1) == "1");
  CHECK(f.refused("invalid") == 1);
  CHECK(f.source.limitation().find("the value of label l at a is longer than 1 KiB or not UTF-8") !=
        std::string::npos);
}

TEST_CASE("bounds on series, bytes and files are kept and named") {
  SUBCASE("series") {
    folder f({.names = std::make_shared<foreign_names>(foreign_names::bounds{.series = 2})});
    f.settled("a.prom", "a 1\nb 1\nc 1\n");
    f.look();
    CHECK(f.out.live_series() == 4);  // with the two about the file
    CHECK(f.refused("bound") == 1);
    CHECK(f.source.limitation().find("c and what follows") != std::string::npos);
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
    CHECK(
        f.source.limitation().find("line 2: more than 1 series (\"b\" is the next): nothing of this text is "
                                   "taken: give fewer, or split it") != std::string::npos);
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
    // Both went in this reading, and there is room for one of them.
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

TEST_CASE("for a series that would not fit then either nothing is given up") {
  folder f({.names = std::make_shared<foreign_names>(foreign_names::bounds{.bytes = 400})});
  f.settled("a.prom", "a 1\nb 1\n");
  f.look();
  f.settled("a.prom", "a 1\nc{l=\"" + std::string(500, 'x') + "\"} 1\n");
  f.look();
  CHECK(f.refused("bound") == 1);
  CHECK(shown(f.out, "b") == "missing");
}

TEST_CASE("what is no file of ours is left alone, what is none at all does not hang the agent") {
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
