#include "cli/progress.hpp"

#include <doctest/doctest.h>

#include <sstream>

namespace binnacle::cli {
namespace progress_test {

/// The text that two steps of a command write to standard error.
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

  TEST_CASE("how long is left is said as soon as something is known of it") {
    using namespace std::chrono_literals;
    CHECK(left_words(0, 14, 1h).empty());  // no step is done yet
    CHECK(left_words(3, 11, 1s).empty());  // the steps took too short a time for an estimate
    CHECK(left_words(3, 11, 3s) == ", about 11 s left");
    CHECK(left_words(10, 1, 3500ms) == ", about 1 s left");
    CHECK(left_words(1, 14, 5s) == ", about 1 min 10 s left");
  }

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
