#include "aggregator/ingest/admission.hpp"

#include "aggregator/ingest/waiting_line.hpp"
#include "tests/support/numbered_network.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace admission_test {

using namespace binnacle;
using namespace binnacle::ingest;
using namespace std::chrono_literals;
using support::numbered;

const auto the_last = [](std::size_t of) { return of - 1; };

TEST_SUITE("aggregator/ingest/waiting_line") {
  TEST_CASE("each strangers' network has its turn, however many it sends") {
    waiting_line<std::string> line(100);
    for (int i = 0; i < 50; ++i) line.join(numbered(1), false, "crowd", 100, the_last);
    line.join(numbered(2), false, "alone", 100, the_last);
    const std::vector<std::string> first{line.next(), line.next()};
    CHECK((first[0] == "alone" || first[1] == "alone"));
    CHECK(line.size() == 49);
  }

  TEST_CASE("known addresses go first, but strangers still get turns") {
    waiting_line<std::string> line(100);
    for (int i = 0; i < 8; ++i) {
      line.join(numbered(1), false, "stranger", 100, the_last);
      line.join(numbered(2), true, "known", 100, the_last);
    }
    int strangers = 0;
    CHECK(line.next() == "known");
    for (int i = 0; i < 7; ++i) strangers += line.next() == "stranger" ? 1 : 0;
    CHECK(strangers == 2);
    while (!line.empty()) strangers += line.next() == "stranger" ? 1 : 0;
    CHECK(strangers == 8);
  }

  TEST_CASE("a full line drops a peer of the network that has most peers in it") {
    waiting_line<std::string> line(100);
    line.join(numbered(2), false, "alone", 3, the_last);
    line.join(numbered(1), false, "first", 3, the_last);
    line.join(numbered(1), false, "second", 3, the_last);
    CHECK(line.join(numbered(3), true, "known", 3, the_last) == "second");
    CHECK(line.size() == 3);
    CHECK(line.next() == "known");
  }

  TEST_CASE("a network of strangers has only its part of a long line, and known addresses have all of it") {
    waiting_line<std::string> line(2);
    CHECK_FALSE(line.join(numbered(1), false, "first", 100, the_last).has_value());
    CHECK_FALSE(line.join(numbered(1), false, "second", 100, the_last).has_value());
    CHECK(line.join(numbered(1), false, "third", 100, the_last) == "second");
    CHECK_FALSE(line.join(numbered(2), false, "of another", 100, the_last).has_value());
    for (int i = 0; i < 90; ++i)
      CHECK_FALSE(line.join(numbered(1), true, "known", 100, the_last).has_value());
    CHECK(line.size() == 93);
  }

  TEST_CASE(
      "a line that has become shorter drops a peer for each that joins, and an empty one takes a peer") {
    waiting_line<std::string> line(100);
    for (int i = 0; i < 5; ++i) line.join(numbered(1), true, "known", 100, the_last);
    CHECK(line.join(numbered(1), true, "late", 2, the_last) == "known");
    CHECK(line.size() == 5);
    line.clear();
    CHECK_FALSE(line.join(numbered(1), true, "alone", 0, the_last).has_value());
    CHECK(line.next() == "alone");
  }

  TEST_CASE("each known address has its turn, however many connections share another one") {
    waiting_line<std::string> line(100);
    for (int i = 0; i < 50; ++i) line.join(numbered(1), true, "crowd", 100, the_last);
    line.join(numbered(2), true, "agent 2", 100, the_last);
    line.join(numbered(3), true, "agent 3", 100, the_last);
    const std::vector<std::string> first{line.next(), line.next(), line.next()};
    CHECK(std::ranges::count(first, "agent 2") == 1);
    CHECK(std::ranges::count(first, "agent 3") == 1);
    while (!line.empty()) CHECK(line.next() == "crowd");
  }

  TEST_CASE("a crowd behind one known address loses its own places, and no agent with another address does") {
    waiting_line<std::string> line(100);
    for (std::uint8_t i = 1; i <= 4; ++i) line.join(numbered(i), true, "agent", 10, the_last);
    for (int i = 0; i < 6; ++i) line.join(numbered(9), true, "crowd", 10, the_last);
    for (int i = 0; i < 20; ++i) CHECK(line.join(numbered(9), true, "crowd", 10, the_last) == "crowd");
    for (std::uint8_t i = 5; i <= 8; ++i)
      CHECK(line.join(numbered(i), true, "agent", 10, the_last) == "crowd");
    CHECK(line.size() == 10);
    int agents = 0;
    while (!line.empty()) agents += line.next() == "agent" ? 1 : 0;
    CHECK(agents == 8);
  }

  TEST_CASE("where each known address has one place, each loses it in its turn") {
    waiting_line<std::string> line(100);
    const auto agent = [](std::uint8_t i) { return "agent " + std::to_string(i); };
    for (std::uint8_t i = 1; i <= 5; ++i) line.join(numbered(i), true, agent(i), 5, the_last);
    std::vector<std::string> lost;
    for (std::uint8_t i = 6; i <= 10; ++i)
      lost.push_back(*line.join(numbered(i), true, agent(i), 5, the_last));
    CHECK(lost == std::vector<std::string>{"agent 1", "agent 2", "agent 3", "agent 4", "agent 5"});
  }

  TEST_CASE(
      "a known address with more than half of the line pushes no new node out, and known nodes still do") {
    waiting_line<std::string> line(100);
    for (int i = 0; i < 8; ++i) line.join(numbered(9), true, "crowd", 8, the_last);
    CHECK(line.join(numbered(1), false, "new node", 8, the_last) == "crowd");
    for (int i = 0; i < 20; ++i) CHECK(line.join(numbered(9), true, "crowd", 8, the_last) == "crowd");

    waiting_line<std::string> other(100);
    for (std::uint8_t i = 1; i <= 8; ++i)
      other.join(numbered(i), i <= 6, i <= 6 ? "agent" : "stranger", 8, the_last);
    CHECK(other.join(numbered(9), true, "agent", 8, the_last) == "stranger");
  }

  TEST_CASE("a full line drops a peer even if all peers in it are known") {
    waiting_line<std::string> line(100);
    CHECK_FALSE(line.join(numbered(1), true, "first", 1, the_last).has_value());
    CHECK(line.join(numbered(2), true, "second", 1, the_last) == "first");
    CHECK(line.next() == "second");
    CHECK(line.empty());
  }
}

}  // namespace admission_test
