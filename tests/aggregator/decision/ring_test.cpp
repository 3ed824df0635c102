#include "aggregator/decision/ring.hpp"

#include "tests/aggregator/decision/sample_record.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace ring_test {

using namespace binnacle;
using namespace binnacle::decision;
using namespace binnacle::test;

namespace {

std::vector<std::uint64_t> ids(const ring& r, const query& q) {
  std::vector<std::uint64_t> out;
  for (const record* each : r.find(q)) out.push_back(each->id);
  return out;
}

using list = std::vector<std::uint64_t>;

}  // namespace

TEST_SUITE("aggregator/decision/ring") {
  TEST_CASE("gives ids from 1 and finds newest first up to the limit") {
    ring r;
    for (std::uint64_t i = 1; i <= 5; ++i) CHECK(r.add(power_record()) == i);
    CHECK(ids(r, {}) == list{5, 4, 3, 2, 1});
    query two;
    two.limit = 2;
    CHECK(ids(r, two) == list{5, 4});
  }

  TEST_CASE("finds by pod, UID, policy, verb, node and id") {
    ring r;
    r.names() = letters();
    r.add(power_record("web-1"));
    record other = power_record("db-0");
    other.pod.name_space = "prod";
    other.pod.uid = "u-2";
    other.wanted = "thermal";
    other.what = verb::prioritize;
    add(other, {store::node_id(2), candidate_outcome::scored, 5, 0}, {seen(1)});
    add(other, {no_node, candidate_outcome::unscored, 0, 0}, {cell{}});
    other.strangers = {"stranger"};
    r.add(std::move(other));

    struct {
      query q;
      list found;
    } const table[] = {{{.pod = "web"}, {1}},
                       {{.pod = "default/web-1"}, {1}},
                       {{.pod = "fault/web-1"}, {}},
                       {{.pod = "default/w"}, {1}},
                       {{.pod = "u-2"}, {2}},
                       {{.pod = "u-"}, {}},
                       {{.pod = "prod/"}, {2}},
                       {{.pod = "prod"}, {}},
                       {{.pod = "db"}, {2}},
                       {{.policy = "thermal"}, {2}},
                       {{.policy = "prod/thermal"}, {2}},
                       {{.policy = "therm"}, {}},
                       {{.policy = "default/thermal"}, {}},
                       {{.node = "node-c"}, {2}},
                       {{.node = "node-d"}, {}},
                       {{.node = "stranger"}, {2}},
                       {{.node = "nobody"}, {}},
                       {{.verb = "filter"}, {1}},
                       {{.verb = "prioritize"}, {2}},
                       {{.id = 1}, {1}},
                       {{.pod = "web", .verb = "prioritize"}, {}}};
    for (const auto& row : table) {
      CAPTURE(row.q.pod + "|" + row.q.policy + "|" + row.q.node + "|" + row.q.verb);
      CHECK(ids(r, row.q) == row.found);
    }
    // A node that no agent had spoken for at the time of the decision is found by name once its agent comes.
    r.names().learn(store::node_id(40), "stranger");
    CHECK(ids(r, {.node = "stranger"}) == list{2});
  }

  TEST_CASE("a node that was forgotten and came back is found before and after") {
    ring r;
    const auto judge = [&r](store::node_id id) {
      record one = power_record();
      one.candidates.clear();
      one.cells.clear();
      add(one, {id, candidate_outcome::refused, 0, 0}, {seen(714)});
      r.names().learn(id, "edge-7");
      return r.add(std::move(one));
    };
    const auto first = judge(store::node_id(7)), second = judge(store::node_id(8));
    CHECK(ids(r, {.node = "edge-7"}) == list{second, first});
  }

  TEST_CASE("the oldest make room, by count and by bytes, and are counted") {
    ring few({1u << 20, 3});
    for (int i = 0; i < 5; ++i) few.add(power_record());
    CHECK(ids(few, {}) == list{5, 4, 3});
    CHECK(few.dropped() == 2);
    CHECK(few.total() == 5);

    ring small({8000, 1000});
    for (int i = 0; i < 100; ++i)
      small.add(power_record("a-pod-with-a-name-that-does-not-fit-into-the-string"));
    CHECK(small.bytes() <= 8000);
    CHECK(small.size() > 5);
    CHECK(small.size() + small.dropped() == 100);
  }

  TEST_CASE("bytes are those of the records that are kept") {
    ring r({4000, 1000});
    std::size_t kept = 0;
    for (int i = 0; i < 50; ++i) r.add(power_record(std::string(static_cast<std::size_t>(i), 'x')));
    for (const record* each : r.find({.limit = 1000})) kept += each->bytes() + each->policy->bytes();
    CHECK(r.bytes() == kept);
  }

  TEST_CASE("facts that many records share count once, and as long as a record has them") {
    ring r({1u << 20, 3});
    const auto shared = power_facts();
    const auto judge = [&r](std::shared_ptr<const policy_facts> by) {
      record one = power_record();
      one.policy = std::move(by);
      const std::size_t size = one.bytes();
      r.add(std::move(one));
      return size;
    };
    std::size_t size = 0;
    for (int i = 0; i < 3; ++i) size += judge(shared);
    CHECK(r.bytes() == size + shared->bytes());
    for (int i = 0; i < 2; ++i) (void)judge(nullptr);
    CHECK(r.bytes() == size + shared->bytes());
    (void)judge(nullptr);
    CHECK(r.bytes() == size);
  }

  TEST_CASE(
      "a policy that is edited between two pods cannot fill the memory with the facts of its revisions") {
    constexpr std::size_t limit = 4u << 20;
    ring r({limit, 100'000});
    std::vector<std::weak_ptr<const policy_facts>> made;
    for (int i = 0; i < 1000; ++i) {
      auto facts = std::make_shared<policy_facts>();
      facts->rules.resize(64);
      for (auto& rule : facts->rules) rule.text = rule.metric = std::string(253, 'm');
      made.push_back(facts);
      record one = power_record();
      one.policy = std::move(facts);
      r.add(std::move(one));
      REQUIRE(r.bytes() <= limit);
    }
    const std::size_t least = std::size_t{64} * 2 * 253;  // bytes of text in one policy's facts
    CHECK(r.size() <= limit / least);
    CHECK(r.size() > 50);
    CHECK(r.find({.limit = 1}).front()->id == 1000);
    const auto alive = std::count_if(made.begin(), made.end(), [](const auto& f) { return !f.expired(); });
    CHECK(static_cast<std::size_t>(alive) == r.size());
  }

  TEST_CASE("a record too large for the ring keeps its totals only") {
    ring r({20'000, 100});
    record big = power_record();
    for (int i = 0; i < 2000; ++i)
      add(big, {store::node_id(1), candidate_outcome::refused, 0, 0}, {seen(714)});
    r.add(power_record());
    r.add(std::move(big));
    CHECK(r.size() == 2);
    CHECK(r.trimmed() == 1);
    CHECK(r.find({}).at(0)->asked == 2000);
    CHECK(r.find({}).at(0)->candidates.empty());
  }

  TEST_CASE("names are learnt once and kept") {
    node_names names;
    CHECK(names.name(store::node_id(7)).empty());
    names.learn(store::node_id(7), "seven");
    names.learn(store::node_id(7), "other");
    CHECK(names.name(store::node_id(7)) == "seven");
  }
}

}  // namespace ring_test
