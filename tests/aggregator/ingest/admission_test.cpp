#include "aggregator/ingest/admission.hpp"

#include "aggregator/ingest/waiting_line.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace admission_test {

using namespace binnacle;
using namespace binnacle::ingest;
using namespace std::chrono_literals;

network numbered(std::uint8_t n) {
  network out;
  out.bytes[15] = n;
  return out;
}
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

  TEST_CASE("a full line drops a peer even if all peers in it are known") {
    waiting_line<std::string> line(100);
    CHECK_FALSE(line.join(numbered(1), true, "first", 1, the_last).has_value());
    CHECK(line.join(numbered(2), true, "second", 1, the_last) == "first");
    CHECK(line.next() == "second");
    CHECK(line.empty());
  }
}

TEST_SUITE("aggregator/ingest/node_tenants") {
  const instant then(1h);

  TEST_CASE("who was there first is before all others, and before those that were never there") {
    node_tenants t;
    CHECK_FALSE(t.is_before(numbered(1), numbered(2)));
    t.welcomed(numbered(1), "a", "", then);
    t.welcomed(numbered(2), "b", "", then + 1s);
    t.welcomed(numbered(1), "a", "", then + 2s);
    CHECK(t.is_before(numbered(1), numbered(2)));
    CHECK_FALSE(t.is_before(numbered(2), numbered(1)));
    CHECK(t.is_before(numbered(2), numbered(3)));
    CHECK_FALSE(t.is_before(numbered(3), numbered(2)));
  }

  TEST_CASE(
      "an address is forgotten a day after its last session, and a crowd of others pushes it out in vain") {
    node_tenants t;
    t.welcomed(numbered(1), "a", "", then);
    t.seen(numbered(1), then + 20h);
    for (std::uint8_t i = 2; i < 100; ++i) t.welcomed(numbered(i), "b", "", then + 20h);
    CHECK(t.is_before(numbered(1), numbered(99)));
    t.welcomed(numbered(100), "c", "", then + 20h + node_tenants::remembered + 1s);
    CHECK(t.is_before(numbered(100), numbered(1)));
  }

  TEST_CASE("an address is its machine's, until that machine starts again") {
    node_tenants t;
    t.welcomed(numbered(1), "a", "", then);
    t.welcomed(numbered(1), "thief", "a", then + 1s);  // took it from a session that was heard
    CHECK(t.boot_at(numbered(1)) == "a");
    t.welcomed(numbered(1), "a again", "", then + 2s);
    CHECK(t.boot_at(numbered(1)) == "a again");
    CHECK(t.boot_at(numbered(2)).empty());
  }
}

}  // namespace admission_test
