#include "agent/sources/pmu/counter_set.hpp"

#include "agent/sources/pmu/descriptor_room.hpp"
#include "agent/sources/pmu/named_events.hpp"
#include "tests/agent/support.hpp"
#include "tests/support/machine/perf_sim.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <limits>
#include <optional>
#include <sys/resource.h>

namespace counter_set_test {

using namespace binnacle;
using namespace binnacle::agent;
using support::perf_sim;
using namespace std::chrono_literals;

namespace {

event_places on_cores(std::string_view name) { return {{find_named_event(name)->encoding, 4, std::nullopt}}; }
event_places software(std::string_view name) { return {{find_named_event(name)->encoding, 1, std::nullopt}}; }

/// Two CPUs and four hardware events, in groups with at most three general events.
struct bench {
  explicit bench(unsigned most = 3) : plan(plan_groups(events, most)), set(sim.opener()) {}

  void open(std::vector<unsigned> online = {0, 1}, std::size_t room = 1000) { set.open(plan, online, room); }
  const std::vector<counter_set::count>& read(duration pause = 1s) {
    sim.advance(pause);
    set.read(counts);
    return counts;
  }
  std::optional<counter_set::count> count(std::size_t event, unsigned cpu) const {
    for (const auto& c : counts) {
      if (c.event == event && c.cpu == cpu) return c;
    }
    return std::nullopt;
  }

  std::vector<event_places> events{on_cores("cycles"), on_cores("cache-misses"), on_cores("branch-misses"),
                                   on_cores("branches")};
  std::vector<planned_group> plan;
  perf_sim sim;
  counter_set set;
  std::vector<counter_set::count> counts;
};

}  // namespace

TEST_SUITE_BEGIN("agent/sources/pmu/scaled_counter");

TEST_CASE("a count that ran all the time is taken as it is") {
  scaled_counter c;
  CHECK(c.update(500, 100, 100) == 500);
  CHECK(c.update(500, 200, 200) == 0);
  CHECK(c.update(501, 300, 301) == 1);  // the kernel does not read the two times at the same instant
}

TEST_CASE("a count that ran a part of the time is scaled by its own interval, not by the whole past") {
  scaled_counter c;
  CHECK(c.update(1000, 1000, 250) == 4000);
  CHECK(c.update(2000, 2000, 1250) == 1000);  // the group was on the PMU all this time
  CHECK(c.update(2000, 3000, 1500) == 0);
}

TEST_CASE("while it had no turn there is nothing, and the next rise covers that time too") {
  scaled_counter c;
  CHECK_FALSE(c.update(0, 0, 0));
  CHECK_FALSE(c.update(0, 1000, 0));
  CHECK(c.update(100, 2000, 500) == 400);
  CHECK_FALSE(c.update(100, 3000, 500));
  CHECK(c.update(200, 4000, 1500) == 200);
}

TEST_CASE("the kernel's sum wraps at 64 bits") {
  scaled_counter c;
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  CHECK(c.update(most - 9, 100, 100) == most - 9);
  CHECK(c.update(90, 200, 200) == 100);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("agent/sources/pmu/counter_set");

TEST_CASE("events are put together as counters allow: three general ones beside cycles and instructions") {
  const std::vector<event_places> events{
      on_cores("cycles"),   on_cores("cache-misses"), software("page-faults"), on_cores("branch-misses"),
      on_cores("branches"), on_cores("instructions"), on_cores("LLC-loads"),   software("cpu-migrations")};
  const auto groups = plan_groups(events, 3);
  REQUIRE(groups.size() == 3);
  const auto members = [&](std::size_t i) {
    std::vector<std::size_t> all;
    for (const auto& m : groups[i].members) all.push_back(m.event);
    return all;
  };
  CHECK(members(0) == std::vector<std::size_t>{0, 1, 3, 4, 5});
  CHECK(members(1) == std::vector<std::size_t>{2, 7});
  CHECK(members(2) == std::vector<std::size_t>{6});
  CHECK(groups[0].takes_turns);
  CHECK_FALSE(groups[1].takes_turns);
  CHECK(plan_groups(events, 0).size() == 7);  // software events stay together
  CHECK(plan_groups({}, 3).empty());
}

TEST_CASE("boxes of a PMU are groups of their own, on their CPUs") {
  const event_places reads{{{.type = 21, .config = 1}, 21, std::vector<unsigned>{0, 2}},
                           {{.type = 22, .config = 1}, 22, std::vector<unsigned>{0, 2}}};
  const event_places writes{{{.type = 21, .config = 2}, 21, std::vector<unsigned>{0, 2}},
                            {{.type = 22, .config = 2}, 22, std::vector<unsigned>{0, 2}}};
  const auto groups = plan_groups(std::vector{reads, writes}, 3);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].members.size() == 2);
  CHECK(groups[1].cpus == std::vector<unsigned>{0, 2});
}

TEST_CASE("one read(2) a group and CPU gives every event's rise") {
  bench b;
  b.open();
  CHECK(b.set.reads() == 2);
  CHECK(b.sim.open_descriptors() == 8);
  b.read();
  REQUIRE(b.counts.size() == 8);
  CHECK(b.count(3, 1)->reason == absence::none);
  CHECK(b.count(3, 1)->rise == 1000);
  CHECK(b.count(3, 1)->enabled_ns == 1'000'000'000);
  CHECK(b.read(2s).front().rise == 2000);
}

TEST_CASE("groups that take turns are estimates, with the share that they ran") {
  bench b;
  b.sim.running = [](std::size_t) { return 0.25; };
  b.open();
  b.read();
  CHECK(b.count(1, 0)->rise == 1000);
  CHECK(b.count(1, 0)->running_ns * 4 == b.count(1, 0)->enabled_ns);
  CHECK_FALSE(b.set.too_crowded());
}

TEST_CASE("a group that never has its turn has no value, and is known to be too large") {
  bench b;
  b.sim.running = [](std::size_t events) { return events > 1 ? 0.0 : 1.0; };
  b.open();
  for (int i = 0; i < 5; ++i) {
    CHECK_FALSE(b.set.too_crowded());
    b.read();
    CHECK(b.count(0, 0)->reason == absence::not_running);
  }
  CHECK(b.set.too_crowded());
  b.set.close();
  CHECK(b.sim.open_descriptors() == 0);
  b.plan = plan_groups(b.events, 0);
  b.open();
  CHECK(b.set.reads() == 8);
  b.read();
  CHECK(b.count(0, 0)->rise == 1000);
}

TEST_CASE("a group that the kernel finds too large is split") {
  bench b;
  b.sim.refusal = [](const perf_request& r) {
    return r.leader >= 0 && r.event == find_named_event("branches")->encoding ? EINVAL : 0;
  };
  b.open();
  CHECK(b.set.refused().empty());
  CHECK(b.set.reads() == 4);
  b.read();
  CHECK(b.count(3, 0)->rise == 1000);
}

TEST_CASE("an event that the machine does not have takes no other with it and is asked for once") {
  bench b;
  b.sim.refusal = [](const perf_request& r) {
    return r.event == find_named_event("cycles")->encoding ? ENOENT : 0;
  };
  b.open();
  REQUIRE(b.set.refused().size() == 1);
  CHECK(b.set.refused().at(0) == ENOENT);
  CHECK(b.sim.open_descriptors() == 6);
  b.read();
  CHECK(b.count(3, 1)->rise == 1000);
  const auto asked = b.sim.requests().size();
  b.open();
  CHECK(b.sim.requests().size() == asked);
}

TEST_CASE("a CPU that goes offline is left out, and counted from anew when it is back") {
  bench b;
  b.open();
  b.read();
  b.sim.offline = {1};
  b.read();
  CHECK(b.count(0, 0)->rise == 1000);
  CHECK(b.count(0, 1)->reason == absence::missing);
  CHECK(b.sim.open_descriptors() == 4);
  b.open();  // the list says that it is still online
  CHECK(b.set.refused().empty());
  b.open({0});
  b.read();
  CHECK(b.counts.size() == 4);
  b.sim.offline.clear();
  b.open({0, 1});
  CHECK(b.sim.open_descriptors() == 8);
  b.read(3s);
  CHECK(b.count(0, 1)->rise == 3000);
}

// Before, an event alone in its group stayed open, and never counted again.
TEST_CASE("counters of a CPU that was offline between two reads are closed, be they alone or in a group") {
  for (const unsigned most : {3U, 0U}) {
    CAPTURE(most);
    bench b(most);
    b.open();
    b.read();
    b.sim.blink(1);
    b.read();
    for (std::size_t event = 0; event < b.events.size(); ++event) {
      CHECK(b.count(event, 0)->rise == 1000);
      CHECK(b.count(event, 1)->reason == absence::missing);
    }
    CHECK(b.sim.open_descriptors() == 4);
    b.open();
    b.read(2s);
    CHECK(b.count(3, 1)->rise == 2000);
  }
}

TEST_CASE("descriptors are bounded: whole groups are left out on all CPUs, and tried again") {
  bench b(0);
  const auto refused = [&](std::size_t room) {
    b.set.close();
    b.open({0, 1}, room);
    CHECK(b.sim.open_descriptors() <= room);
    return b.set.refused().size();
  };
  CHECK(refused(8) == 0);
  CHECK(refused(7) == 1);
  CHECK(refused(5) == 2);
  CHECK(refused(1) == 4);
  CHECK(b.set.refused().at(0) == EMFILE);
  b.open({0, 1}, 8);
  CHECK(b.set.refused().empty());
  CHECK(b.sim.open_descriptors() == 8);
}

TEST_CASE("room for descriptors is made by raising the soft limit, as far as the hard one lets") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE(before.rlim_max >= 1024);
  struct restored {
    rlimit was;
    ~restored() { ::setrlimit(RLIMIT_NOFILE, &was); }
  } const at_end{before};
  const rlimit low{600, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  CHECK(make_descriptor_room(88) == 88);
  rlimit now{};
  ::getrlimit(RLIMIT_NOFILE, &now);
  CHECK(now.rlim_cur == 600);  // there was room already
  CHECK(make_descriptor_room(400) == 400);
  ::getrlimit(RLIMIT_NOFILE, &now);
  CHECK(now.rlim_cur == 912);
  CHECK(make_descriptor_room(1'000'000'000) <= before.rlim_max - 512);
}

TEST_CASE("the process's limit of open files is a bound too") {
  bench b(0);
  b.sim.most_descriptors = 5;
  b.open();
  CHECK(b.sim.open_descriptors() == 4);
  CHECK(b.set.refused().size() == 2);
  CHECK(b.set.refused().at(3) == EMFILE);
}

TEST_SUITE_END();

}  // namespace counter_set_test
