#include "cli/progress.hpp"

#include <doctest/doctest.h>

#include <sstream>

namespace binnacle::cli {
namespace progress_test {

/// What two steps of a command write to standard error.
std::string said(bool at_a_terminal, std::chrono::milliseconds patience) {
  std::ostringstream out, err;
  const terminal on{out, err, {}, false, false, at_a_terminal};
  {
    progress shown(on, "doctor", 2, patience);
    shown.step("kernel");
    shown.step("extender");
  }
  CHECK(out.str().empty());
  return err.str();
}

}  // namespace progress_test

TEST_SUITE("cli/progress") {
  using namespace progress_test;

  TEST_CASE("at a terminal one line says the step, and goes at the end") {
    CHECK(said(true, std::chrono::hours(1)) ==
          "\r\x1b[Kdoctor: 1 of 2: kernel\r\x1b[Kdoctor: 2 of 2: extender\r\x1b[K");
  }

  TEST_CASE("without a terminal a command that takes long says plain lines, any other nothing") {
    CHECK(said(false, std::chrono::milliseconds(0)) == "doctor: 1 of 2: kernel\ndoctor: 2 of 2: extender\n");
    CHECK(said(false, std::chrono::hours(1)).empty());
  }
}

}  // namespace binnacle::cli
