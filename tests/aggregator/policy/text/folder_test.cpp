#include "aggregator/policy/text/folder.hpp"

#include "common/text/plain.hpp"
#include "tests/aggregator/policy/text/failing_readdir.hpp"
#include "tests/aggregator/policy/world.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace folder_test {

using namespace binnacle;
using namespace binnacle::policy;
using binnacle::policy::test::manifest;
namespace fs = std::filesystem;

namespace {

struct scratch : binnacle::support::temp_folder {
  /// Sets an old modification time: two writes within a moment could have the same time stamp. (The change
  /// time stays the present one.)
  void age(const std::string& name) const {
    fs::last_write_time(*this / name, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
};

std::string policy_at(int target) {
  return manifest(
      {{"dontschedule",
        fmt::format("rules: [{{metricname: temp, operator: GreaterThan, target: {}}}]", target)}});
}
std::string targets(const policy_set& set) {
  std::string out;
  for (const binnacle::policy::policy& p : set.policies())
    out += plain(p.strategies[0].rules[0].target) + " ";
  return out;
}

}  // namespace

TEST_SUITE("aggregator/policy/text/folder") {
  TEST_CASE("files come, change and go") {
    scratch dir;
    policy_set set;
    folder f(dir.path());
    CHECK_FALSE(f.refresh(set));

    dir.write("a.yaml", policy_at(10));
    CHECK(f.refresh(set));
    CHECK(targets(set) == "10 ");
    CHECK_FALSE(f.refresh(set));

    dir.write("a.yaml", policy_at(20));  // same size, within the same tick
    CHECK(f.refresh(set));
    CHECK(targets(set) == "20 ");

    dir.write("b.yml",
              manifest({{"dontschedule", "rules: [{metricname: m, operator: Equals, target: 5}]"}}, "q"));
    CHECK(f.refresh(set));
    CHECK(targets(set) == "20 5 ");

    fs::remove(dir / "a.yaml");
    CHECK(f.refresh(set));
    CHECK(targets(set) == "5 ");
    CHECK_FALSE(f.refresh(set));
  }

  TEST_CASE("a file that an editor empties before it writes it takes nothing out of force") {
    scratch dir;
    policy_set set;
    folder f(dir.path());
    dir.write("a.yaml", policy_at(10));
    f.refresh(set);
    for (const char* nothing : {"", "\n \n"}) {
      dir.write("a.yaml", nothing);
      f.refresh(set);
      CHECK(targets(set) == "10 ");
      REQUIRE(set.problems().size() == 2);
      CHECK(set.problems()[0].message ==
            "the file holds no policy now: delete the file to remove its policies");
      CHECK(set.problems()[0].level == severity::error);
    }
    dir.write("a.yaml", policy_at(20));
    CHECK(f.refresh(set));
    CHECK(targets(set) == "20 ");
    CHECK(set.problems().empty());
    fs::remove(dir / "a.yaml");
    f.refresh(set);
    CHECK(set.policies().empty());
  }

  TEST_CASE("too many files: new ones are left out and named, what is in force stays") {
    scratch dir;
    policy_set set;
    folder f(dir.path());
    dir.write("z.yaml", policy_at(10));
    f.refresh(set);
    for (std::size_t i = 0; i < folder::most_files + 1; ++i)
      dir.write(fmt::format("b{:04}.yaml", i), "# nothing\n");
    CHECK(f.refresh(set));
    CHECK(targets(set) == "10 ");
    REQUIRE_FALSE(set.problems().empty());
    CHECK(set.problems()[0].message.find(
              "has 1002 files, at most 1000 are read: \"b0999.yaml\", \"b1000.yaml\" are "
              "left out") != std::string::npos);
    CHECK_FALSE(f.refresh(set));
    // When a file is removed, another one finds room.
    fs::remove(dir / "b0000.yaml");
    CHECK(f.refresh(set));
    CHECK(set.problems()[0].message.find(": \"b1000.yaml\" are left out") != std::string::npos);
  }

  TEST_CASE(
      "a folder with far too many entries is not read to its end, and says so; what is in force stays") {
    scratch dir;
    policy_set set;
    folder f(dir.path());
    dir.write("a.yaml", policy_at(10));
    f.refresh(set);
    for (std::size_t i = 0; i < folder::most_entries; ++i) dir.write(fmt::format("{}.txt", i), "");
    dir.write("a.yaml", policy_at(20));
    CHECK(f.refresh(set));
    CHECK(targets(set) == "10 ");
    REQUIRE_FALSE(set.problems().empty());
    CHECK(set.problems()[0].message.find("it has more than 10000 entries: move what is no policy elsewhere; "
                                         "what was read before stays in force") != std::string::npos);
    for (const char* name : {"0.txt", "1.txt", "2.txt"}) dir.remove(name);  // "." and ".." are entries, too
    CHECK(f.refresh(set));
    CHECK(targets(set) == "20 ");
  }

  TEST_CASE("an editor's rename over the file is seen") {
    scratch dir;
    policy_set set;
    folder f(dir.path());
    dir.write("a.yaml", policy_at(10));
    f.refresh(set);
    dir.write(".a.yaml.swp", policy_at(30));
    CHECK_FALSE(f.refresh(set));
    fs::rename(dir / ".a.yaml.swp", dir / "a.yaml");
    CHECK(f.refresh(set));
    CHECK(targets(set) == "30 ");
  }

  TEST_CASE("a mounted ConfigMap's swapped links are seen") {
    scratch dir;
    policy_set set;
    folder f(dir.path());
    for (const char* version : {"..2026_01", "..2026_02"}) fs::create_directory(dir / version);
    dir.write("..2026_01/power.yaml", policy_at(10));
    dir.write("..2026_02/power.yaml", policy_at(40));
    fs::create_directory_symlink("..2026_01", dir / "..data");
    fs::create_symlink("..data/power.yaml", dir / "power.yaml");
    CHECK(f.refresh(set));
    CHECK(targets(set) == "10 ");
    fs::create_directory_symlink("..2026_02", dir / "..data_tmp");
    fs::rename(dir / "..data_tmp", dir / "..data");
    CHECK(f.refresh(set));
    CHECK(targets(set) == "40 ");
  }

  TEST_CASE("other files, hidden files and folders are not read") {
    scratch dir;
    policy_set set;
    folder f(dir.path());
    dir.write("notes.txt", policy_at(1));
    dir.write(".hidden.yaml", policy_at(2));
    dir.write("a.yaml~", policy_at(3));
    CHECK_FALSE(f.refresh(set));
    fs::create_directory(dir / "sub.yaml");
    CHECK(f.refresh(set));
    CHECK(set.policies().empty());
    CHECK(set.problems().at(0).message.find("not a regular file") != std::string::npos);
    CHECK_FALSE(f.refresh(set));
  }

  TEST_CASE("what cannot be read keeps what it gave, says so once, and comes back") {
    scratch dir;
    policy_set set;
    folder f(dir.path());
    dir.write("a.yaml", policy_at(10));
    f.refresh(set);
    SUBCASE("a pipe in its place does not block us") {
      fs::remove(dir / "a.yaml");
      REQUIRE(mkfifo((dir / "a.yaml").c_str(), 0600) == 0);
    }
    SUBCASE("a link to nowhere") {
      fs::remove(dir / "a.yaml");
      fs::create_symlink("nowhere", dir / "a.yaml");
    }
    SUBCASE("a file that is far too long") { dir.write("a.yaml", std::string(2 * most_text_bytes, '#')); }
    CHECK(f.refresh(set));
    CHECK(targets(set) == "10 ");
    CHECK(set.problems().at(0).level == severity::error);
    CHECK(set.problems().at(0).file == dir / "a.yaml");
    CHECK_FALSE(f.refresh(set));
    fs::remove(dir / "a.yaml");
    dir.write("a.yaml", policy_at(50));
    CHECK(f.refresh(set));
    CHECK(targets(set) == "50 ");
    CHECK(set.problems().empty());
  }

  TEST_CASE("a folder that is not there keeps the policies and is said once") {
    scratch dir;
    policy_set set;
    const fs::path inner = dir / "policies";
    folder f(inner.string());
    CHECK(f.refresh(set));
    CHECK(set.problems().at(0).message.find("cannot be read: No such file or directory") !=
          std::string::npos);
    CHECK_FALSE(f.refresh(set));
    fs::create_directory(inner);
    std::ofstream(inner / "a.yaml") << policy_at(10);
    CHECK(f.refresh(set));
    CHECK(set.problems().empty());
    fs::rename(inner, dir / "away");
    CHECK(f.refresh(set));
    CHECK(targets(set) == "10 ");
  }

  TEST_CASE("a folder that opens and cannot be read to its end takes nothing out of force") {
    scratch dir;
    policy_set set;
    folder f(dir.path());
    dir.write("a.yaml", policy_at(10));
    f.refresh(set);
    {
      const test::failing_readdir stale(ESTALE);
      CHECK(f.refresh(set));
      CHECK(targets(set) == "10 ");
      CHECK(set.problems().at(0).message.find("cannot be read: Stale file handle") != std::string::npos);
      CHECK_FALSE(f.refresh(set));
    }
    CHECK(f.refresh(set));
    CHECK(targets(set) == "10 ");
    CHECK(set.problems().empty());
  }

  TEST_CASE("a bad edit keeps the last good text in force") {
    scratch dir;
    policy_set set;
    folder f(dir.path());
    dir.write("a.yaml", policy_at(10));
    f.refresh(set);
    dir.write("a.yaml", "spec: [");
    CHECK(f.refresh(set));
    CHECK(targets(set) == "10 ");
    CHECK(set.problems().size() == 2);
    CHECK(set.problems().back().text().find("a.yaml:1: error: this is not YAML") != std::string::npos);
  }
}

}  // namespace folder_test
