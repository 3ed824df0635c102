#include "common/system/read_file.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <unistd.h>

using namespace binnacle;
using support::temp_folder;

namespace {

TEST_SUITE("common/system/read_file") {
  TEST_CASE("a file of any length is read whole, up to the bound and not a byte more") {
    temp_folder folder;
    for (const std::size_t length : {0u, 1u, 16'383u, 16'384u, 16'385u, 40'000u}) {
      CAPTURE(length);
      const std::string text(length, 'x');
      folder.write("f", text);
      const auto read = read_file(folder / "f", 40'000);
      REQUIRE(read.has_value());
      CHECK(*read == text);
      if (length == 0) continue;
      const auto cut = read_file(folder / "f", length - 1);
      REQUIRE(cut.has_error());
      CHECK(cut.error().code == errc::overloaded);
    }
  }

  TEST_CASE("why a file is not read is its kind and the system's words") {
    temp_folder folder;
    CHECK(read_file(folder / "none", 10).error().code == errc::not_found);
    CHECK(read_file(folder / "none", 10).error().message == "No such file or directory");
    CHECK(read_file(folder.path(), 10).error().code == errc::invalid_input);
  }

  TEST_CASE("what comes through a pipe is read to its end") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    REQUIRE(::write(ends[1], "abc", 3) == 3);
    ::close(ends[1]);
    CHECK(read_file(ends[0], 10).value() == "abc");
    ::close(ends[0]);
  }
}

}  // namespace
