#include "aggregator/decision/search.hpp"

#include "tests/aggregator/decision/sample_record.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace search_test {

using namespace binnacle;
using namespace binnacle::decision;
using namespace binnacle::test;

namespace {

using list = std::vector<std::uint64_t>;

/// Adds a decision about `candidates` nodes, the last of which is `last`.
void judge(ring& r, std::size_t candidates, store::node_id last, const std::string& pod = "web-1") {
  record one = power_record(pod);
  one.policy = nullptr;  // so no values are kept
  one.candidates.resize(candidates, {store::node_id(0), candidate_outcome::passed, 0, 0});
  one.candidates.back().id = last;
  r.add(std::move(one));
}

/// How many calls it took.
std::size_t to_the_end(search& s, std::size_t looks) {
  std::size_t calls = 1;
  while (s.go_on(looks)) ++calls;
  return calls;
}

}  // namespace

TEST_SUITE("aggregator/decision/search") {
  TEST_CASE("a node that no decision has is looked for among all candidates, in pieces") {
    ring r;
    r.names() = letters();
    for (int i = 0; i < 10; ++i) judge(r, 5'000, store::node_id(1));
    search nobody(r, {.node = "node-x"});
    CHECK(to_the_end(nobody, 1'000) >= 50);
    CHECK(nobody.found().empty());
    search other_pod(r, {.pod = "db", .node = "node-b"});
    CHECK(to_the_end(other_pod, 1'000) == 1);
    CHECK(other_pod.found().empty());
  }

  TEST_CASE("whatever the pieces, it finds the same, newest first and up to the limit") {
    ring r;
    r.names() = letters();
    for (const int last : {1, 2, 1, 3, 1}) judge(r, 100, store::node_id(last), "web-" + std::to_string(last));
    for (const std::size_t looks : {1, 7, 50, 51, 149, 150, 1'000'000}) {
      CAPTURE(looks);
      search node(r, {.node = "node-b"});
      (void)to_the_end(node, looks);
      CHECK(node.found() == list{5, 3, 1});
      search two(r, {.node = "node-b", .limit = 2});
      (void)to_the_end(two, looks);
      CHECK(two.found() == list{5, 3});
      search pod(r, {.pod = "web-3"});
      (void)to_the_end(pod, looks);
      CHECK(pod.found() == list{4});
      search one(r, {.node = "node-b", .id = 3});
      (void)to_the_end(one, looks);
      CHECK(one.found() == list{3});
      search other(r, {.node = "node-b", .id = 2});
      (void)to_the_end(other, looks);
      CHECK(other.found().empty());
      search none(r, {.id = 17});
      (void)to_the_end(none, looks);
      CHECK(none.found().empty());
    }
  }

  TEST_CASE("decisions that come and go meanwhile do no harm") {
    ring r({1u << 20, 4});
    r.names() = letters();
    for (int i = 0; i < 4; ++i) judge(r, 100, store::node_id(1));
    search s(r, {.node = "node-b"});
    CHECK(s.go_on(151));  // the newest and a part of the next one
    for (int i = 0; i < 2; ++i) judge(r, 100, store::node_id(1));
    (void)to_the_end(s, 149);
    CHECK(s.found() == list{4, 3});
    search late(r, {.node = "node-b"});
    CHECK(late.go_on(50));
    for (int i = 0; i < 4; ++i) judge(r, 100, store::node_id(1));
    CHECK_FALSE(late.go_on(1'000'000));
    CHECK(late.found().empty());
    CHECK(ring().at(1) == nullptr);
    CHECK(r.at(6) == nullptr);
    CHECK(r.at(7)->id == 7);
    CHECK(r.at(11) == nullptr);
  }
}

}  // namespace search_test
