#include "aggregator/sender/version_choice.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::sender {
namespace version_choice_test {

/// A server's answer: its status, followed by "w" if it says how many samples it has written, or by "r" if it
/// says when to come again.
http::answer said(std::string_view words) {
  http::answer out;
  out.status = static_cast<unsigned>(std::stoi(std::string(words.substr(0, 3))));
  if (words.ends_with('w')) out.headers.emplace_back("x-prometheus-remote-write-samples-written", "1");
  if (words.ends_with('r')) out.headers.emplace_back("retry-after", "1");
  return out;
}

/// The versions of the requests, one after each answer: "2.0 1.0! 1.0". A "!" means that the same request is
/// sent again at once.
std::string versions_after(const std::vector<const char*>& answers,
                           write_version wish = write_version::automatic) {
  version_choice choice(dialect_of(protocol::remote_write), wish);
  std::string out(choice.next().version);
  for (const char* words : answers) {
    const bool again = choice.learn(said(words));
    out += ' ' + std::string(choice.next().version) + (again ? "!" : "");
  }
  return out;
}

}  // namespace version_choice_test

TEST_SUITE("aggregator/sender/version_choice") {
  using namespace version_choice_test;

  TEST_CASE("a server that lacks 2.0 gets 1.0 from the same request on") {
    CHECK(versions_after({"415", "204", "400", "500"}) == "2.0 1.0! 1.0 1.0 1.0");
    CHECK(versions_after({"204", "204"}) == "2.0 1.0! 1.0");
    CHECK(versions_after({"204w", "204"}) == "2.0 2.0 1.0!");  // an older one took the newer one's place
  }

  TEST_CASE("a server of 2.0 that refuses a sample after our restart is not taken for one of 1.0") {
    CHECK(versions_after({"400w", "400w", "204w"}) == "2.0 2.0 2.0 2.0");
    // The server has shown once that it knows 2.0. It may then refuse and fail, and still gets 2.0.
    CHECK(versions_after({"400w", "400", "422", "500", "500", "500", "500"}) ==
          "2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0");
  }

  TEST_CASE("a request that is refused for its form, perhaps, is tried in 1.0 at once") {
    for (const char* refusal : {"400", "406", "422"}) {
      CAPTURE(refusal);
      CHECK(versions_after({refusal, "200", "200"}) == "2.0 1.0! 1.0 1.0");
      // The server refuses both versions: the request is to blame, and the next one is in 2.0 again.
      CHECK(versions_after({refusal, "400", "204w", "400"}) == "2.0 1.0! 2.0 2.0 2.0");
    }
  }

  TEST_CASE(
      "a server that only ever fails at 2.0 is tried in 1.0, and gets it for good if that helps twice") {
    CHECK(versions_after({"500", "500", "500", "200", "500", "200"}) == "2.0 2.0 2.0 1.0 2.0 1.0! 1.0");
    // The server was only away: once it is back it gets 2.0, whichever version the first successful request
    // had.
    CHECK(versions_after({"500", "500", "500", "200", "204w", "500", "500", "500"}) ==
          "2.0 2.0 2.0 1.0 2.0 2.0 2.0 2.0 2.0");
    CHECK(versions_after({"500", "500", "500", "500", "500", "500", "500", "500"}) ==
          "2.0 2.0 2.0 1.0 2.0 2.0 2.0 1.0 2.0");
    CHECK(versions_after({"500", "500", "204w", "500"}) == "2.0 2.0 2.0 2.0 2.0");
    CHECK(versions_after({"503r", "503r", "503r", "429", "429"}) == "2.0 2.0 2.0 2.0 2.0 2.0");  // busy
  }

  TEST_CASE(
      "a server of 2.0 alone that fails for a while loses nothing by the trial of 1.0, which it refuses") {
    for (const char* refusal : {"415", "400", "404"}) {
      CAPTURE(refusal);
      CHECK(versions_after({"500", "500", "500", refusal, "204w"}) == "2.0 2.0 2.0 1.0 2.0! 2.0");
      CHECK(versions_after({"500", "500", "500", refusal, "500"}) == "2.0 2.0 2.0 1.0 2.0! 2.0");
    }
    CHECK(versions_after({"500", "500", "500", "429", "204w"}) ==
          "2.0 2.0 2.0 1.0 2.0 2.0");  // it comes again
  }

  TEST_CASE("a version that is wished for stays, whatever the server says") {
    CHECK(versions_after({"415", "400", "204", "501"}, write_version::v2_0) == "2.0 2.0 2.0 2.0 2.0");
    CHECK(versions_after({"415", "400", "204w", "501"}, write_version::v1_0) == "1.0 1.0 1.0 1.0 1.0");
  }

  TEST_CASE("a protocol of one version has no choice") {
    version_choice choice(dialect_of(protocol::otlp), write_version::automatic);
    for (const char* words : {"415", "400", "500", "200"}) {
      CHECK_FALSE(choice.learn(said(words)));
      CHECK(&choice.next() == &dialect_of(protocol::otlp));
    }
  }
}

}  // namespace binnacle::sender
