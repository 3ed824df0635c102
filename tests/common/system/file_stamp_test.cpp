#include "common/system/file_stamp.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <string>

using namespace binnacle;
using support::temp_folder;
namespace fs = std::filesystem;

namespace {

TEST_SUITE("common/system/file_stamp") {
  TEST_CASE("a file that nobody touched keeps its stamp") {
    temp_folder folder;
    folder.write("f", "a");
    const auto before = file_stamp::of(folder / "f");
    REQUIRE(before.has_value());
    CHECK(before->size == 1);
    CHECK(file_stamp::of(folder / "f") == before);
  }

  TEST_CASE("what becomes of a file shows") {
    temp_folder folder;
    folder.write("f", "a");
    folder.write("other", "a");
    const auto before = file_stamp::of(folder / "f");
    SUBCASE("another text in place") { folder.write("f", "ab"); }
    SUBCASE("another file by its name") { fs::rename(folder / "other", folder / "f"); }
    SUBCASE("a link by its name, which stat(2) follows") {
      folder.remove("f");
      fs::create_symlink("other", folder / "f");
    }
    SUBCASE("another time of writing") {
      fs::last_write_time(folder / "f", fs::last_write_time(folder / "f") + std::chrono::seconds(1));
    }
    SUBCASE("it is gone") {
      folder.remove("f");
      CHECK_FALSE(file_stamp::of(folder / "f").has_value());
    }
    CHECK(file_stamp::of(folder / "f") != before);
  }
}

}  // namespace
