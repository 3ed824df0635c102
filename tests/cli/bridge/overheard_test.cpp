#include "cli/bridge/overheard.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

namespace overheard_test {

namespace {

using binnacle::cli::bridge::overheard;

TEST_SUITE("cli/bridge/overheard") {
  TEST_CASE("what was said before is shown with what follows, as it comes") {
    std::ostringstream screen;
    overheard tested(screen);
    tested.take("open https://lo");
    tested.take("gin\nand enter ");
    CHECK(screen.str().empty());
    tested.show();
    CHECK(screen.str() == "\nopen https://login\nand enter ");
    tested.take("QX7\r\n");
    CHECK(screen.str() == "\nopen https://login\nand enter QX7\n\n");
  }

  TEST_CASE("if nothing was said, nothing is shown, not even an empty line") {
    std::ostringstream screen;
    overheard tested(screen);
    tested.show();
    CHECK(screen.str().empty());
    tested.take("late\n");
    CHECK(screen.str() == "\nlate\n");
  }

  TEST_CASE("it moves no cursor, and holds 64 KiB") {
    std::ostringstream screen;
    overheard tested(screen);
    tested.take("\x1b[2J");
    for (int i = 0; i < 100; ++i) tested.take(std::string(1024, 'x'));
    tested.show();
    CHECK(screen.str().find('\x1b') == std::string::npos);
    CHECK(screen.str().size() < (65u << 10));
    CHECK(screen.str().size() > (63u << 10));
  }
}

}  // namespace

}  // namespace overheard_test
