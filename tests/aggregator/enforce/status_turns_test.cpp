#include "aggregator/enforce/status_turns.hpp"

#include "aggregator/enforce/status_pace.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace status_turns_test {

using namespace binnacle;
using namespace binnacle::enforce;
using namespace std::chrono_literals;

std::vector<std::string> all_of(status_turns& t) {
  std::vector<std::string> out;
  while (const auto key = t.next()) out.push_back(key->text());
  return out;
}

TEST_SUITE("aggregator/enforce/status_turns") {
  TEST_CASE("namespaces take turns, and in each the one that waits longest comes first") {
    status_turns t;
    for (const char* name : {"z", "a", "m", "a"}) t.wants({"loud", name}, false);
    t.wants({"quiet", "p"}, false);
    CHECK(all_of(t) == std::vector<std::string>{"loud/z", "quiet/p", "loud/a", "loud/m"});
    CHECK(t.empty());
    t.wants({"loud", "z"}, false);  // it has had its turn, and may wait again
    CHECK(t.next().value().text() == "loud/z");
  }

  TEST_CASE("a policy that was edited comes first in its namespace, also if it waits already") {
    status_turns t;
    for (const char* name : {"a", "b", "c"}) t.wants({"lab", name}, false);
    t.wants({"lab", "c"}, true);
    t.wants({"lab", "d"}, true);
    t.wants({"lab", "d"}, false);
    CHECK(all_of(t) == std::vector<std::string>{"lab/d", "lab/c", "lab/a", "lab/b"});
  }

  TEST_CASE("one policy among a thousand that change all the time is written within a second") {
    status_turns turns;
    status_pace pace(7);
    std::vector<std::pair<kube::object_key, std::string>> loud;  // with their texts
    for (int i = 0; i < 1'000; ++i) {
      kube::object_key key{"loud", std::to_string(i)};
      loud.emplace_back(key, key.text());
    }
    std::set<std::string> known;
    const instant begin(1h);
    instant written{};
    for (instant now = begin; now < begin + 60s && written == instant(); now += 10ms) {
      // Every look finds changes of the loud namespace; the quiet policy changes once.
      for (const auto& [key, text] : loud) {
        if (pace.is_due(text, now)) turns.wants(key, false);
      }
      if (now == begin + 3s) turns.wants({"quiet", "p"}, false);
      if (now < pace.next_change()) continue;
      const auto key = turns.next();
      REQUIRE(key.has_value());
      REQUIRE(pace.may_write(key->text(), urgency::change, now));
      pace.begins(key->text(), now);
      pace.wrote(key->text(), urgency::change, now);
      known.insert(key->text());
      if (key->name_space == "quiet") written = now;
    }
    CHECK(written - begin < 4s);
    CHECK(known.size() > 25);  // the loud ones have their turns, too: ten a second
  }
}

TEST_SUITE("aggregator/enforce/status_pace") {
  TEST_CASE("what was written delays its policy by seconds and the others by a moment") {
    status_pace pace(7);
    const instant now(1h);
    CHECK(pace.next_change() <= now);
    pace.begins("a", now);
    pace.wrote("a", urgency::change, now);
    CHECK_FALSE(pace.is_due("a", now + 4s));
    CHECK(pace.is_due("a", now + status_pace::between_changes));
    CHECK(pace.is_due("b", now));
    CHECK(pace.next_change() == now + status_pace::first_change);
    CHECK_FALSE(pace.may_write("b", urgency::change, now + 50ms));
    CHECK(pace.may_write("b", urgency::change, now + 100ms));
    pace.pause(1min, now + 1s);
    CHECK(pace.next_change() >= now + 1s + 30s);
    CHECK_FALSE(pace.may_write("b", urgency::change, now + 2s));
    CHECK_FALSE(pace.may_write("b", urgency::refresh, now + 2s));
  }
}

}  // namespace status_turns_test
