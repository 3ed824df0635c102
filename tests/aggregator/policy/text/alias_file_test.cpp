#include "aggregator/policy/text/alias_file.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace alias_file_test {

using namespace binnacle;
using policy::alias_file;

namespace {

struct bench {
  support::temp_folder dir;
  std::string path = dir / "aliases.yaml";
  alias_file file{path};

  void write(std::string_view text) const { dir.write("aliases.yaml", text); }
  std::string family(std::string_view name) const { return file.table()->resolve(name).family; }
  std::string only_problem() const {
    return file.problems().size() == 1 ? file.problems().front().text()
                                       : std::to_string(file.problems().size()) + " problems";
  }
};

}  // namespace

TEST_SUITE("aggregator/policy/text/alias_file") {
  TEST_CASE("without a file there are the built-in names") {
    alias_file none("");
    CHECK_FALSE(none.refresh());
    CHECK(none.table()->own() == 0);
    CHECK(none.problems().empty());
  }

  TEST_CASE("a changed file gives a new table, and the old one lives as long as somebody holds it") {
    bench b;
    b.write("- {name: heat, family: rapl_power_watts}\n");
    CHECK(b.file.refresh());
    CHECK(b.family("heat") == "rapl_power_watts");
    const auto before = b.file.table();
    CHECK_FALSE(b.file.refresh());
    CHECK(b.file.table() == before);

    b.write("- {name: heat, family: host_power_watts}\n");  // same size, within the same tick
    CHECK(b.file.refresh());
    CHECK(b.family("heat") == "host_power_watts");
    CHECK(before->resolve("heat").family == "rapl_power_watts");

    b.write("[]\n");
    CHECK(b.file.refresh());
    CHECK(b.file.table()->own() == 0);
    CHECK(b.file.problems().empty());
  }

  TEST_CASE("what is wrong is refused with file, line and remedy, and the last good table stays") {
    bench b;
    b.write("- {name: heat, family: rapl_power_watts}\n");
    REQUIRE(b.file.refresh());
    const auto good = b.file.table();
    const auto refused = [&](const std::string& sentence) {
      CHECK(b.file.refresh());
      CHECK(b.file.table() == good);
      CHECK(b.only_problem() == b.path + sentence);
      CHECK_FALSE(b.file.refresh());  // the trouble is reported once
    };
    SUBCASE("one wrong entry refuses the whole file") {
      b.write("- {name: heat, family: host_power_watts}\n- {name: cold}\n");
      refused(":2: error: [1]: family is missing: the metric that the name stands for (METRICS.md)");
    }
    SUBCASE("no YAML") {
      b.write("- {name: heat\n");
      CHECK(b.file.refresh());
      CHECK(b.file.table() == good);
      CHECK(b.only_problem().find("this is not YAML") != std::string::npos);
    }
    SUBCASE("an editor empties it before it writes it") {
      b.write(" \n");
      refused(": error: the file is empty now: write [] to remove its aliases");
    }
    SUBCASE("an editor writes a comment and a marker first") {
      b.write("# names of ours\n---\n");
      refused(": error: the file is empty now: write [] to remove its aliases");
    }
    SUBCASE("it is gone") {
      b.dir.remove("aliases.yaml");
      refused(
          ": error: the file cannot be read: No such file or directory; check --aliases and who may read the "
          "file");
    }
    b.write("- {name: heat, family: host_power_watts}\n");
    CHECK(b.file.refresh());
    CHECK(b.file.problems().empty());
    CHECK(b.family("heat") == "host_power_watts");
  }

  TEST_CASE("the swapped links of a mounted ConfigMap are seen") {
    namespace fs = std::filesystem;
    support::temp_folder dir;
    dir.write("v1/aliases.yaml", "- {name: heat, family: rapl_power_watts}\n");
    dir.write("v2/aliases.yaml", "- {name: heat, family: host_power_watts}\n");
    const fs::path at(dir.path());
    fs::create_directory_symlink("v1", at / "..data");
    fs::create_symlink("..data/aliases.yaml", at / "aliases.yaml");
    alias_file file(at / "aliases.yaml");
    CHECK(file.refresh());
    CHECK(file.table()->resolve("heat").family == "rapl_power_watts");
    fs::create_directory_symlink("v2", at / "..tmp");
    fs::rename(at / "..tmp", at / "..data");
    CHECK(file.refresh());
    CHECK(file.table()->resolve("heat").family == "host_power_watts");
  }
}

}  // namespace alias_file_test
