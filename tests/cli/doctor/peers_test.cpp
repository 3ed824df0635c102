#include "cli/doctor/peers.hpp"

#include "tests/cli/doctor/finding_words.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace peers_test {

namespace {

using namespace binnacle;
using namespace binnacle::cli;
using namespace binnacle::cli::doctor;
using namespace std::chrono_literals;

TEST_SUITE("cli/doctor/peers") {
  TEST_CASE("clocks that differ matter to certificates, not to verdicts") {
    const std::chrono::system_clock::time_point now{1'700'000'000s};
    const auto ahead = [&](auto by) {
      return finding_of_clock({"the peer", now + by, now - 10ms, now + 10ms});
    };
    CHECK(ahead(0s).how == grade::ok);
    CHECK(ahead(1s).how == grade::ok);  // an answer's time is in whole seconds
    CHECK(ahead(-6900ms).how == grade::warning);
    CHECK(says(ahead(20s), "ahead of ours; verdicts do not depend on it"));
    CHECK(says(ahead(-20s), "behind ours"));
    CHECK(ahead(600s).how == grade::failure);
    // An answer that took 40 s does not tell a difference of 20 s for sure.
    CHECK(finding_of_clock({"the peer", now + 20s, now, now + 40s}).how == grade::ok);
  }
}

}  // namespace

}  // namespace peers_test
