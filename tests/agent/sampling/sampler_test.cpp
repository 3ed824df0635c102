#include "agent/sampling/sampler.hpp"

#include "tests/agent/support.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace sampler_test {

using namespace binnacle;
using namespace binnacle::agent;
using agent::test::fake_clock;
using agent::test::shown;
using namespace std::chrono_literals;

namespace {

/// What a scripted source does next, and which calls it received.
struct script {
  std::optional<error> on_discover;
  std::optional<error> on_read;
  bool throws = false;
  duration takes{};  // how long a read takes, by the bench's clock
  std::string limitation;
  wire::interest wanted;
  int told = 0;
  int discovered = 0;
  int reads = 0;
};

class scripted final : public source {
 public:
  scripted(std::string name, script& s, fake_clock& clock, duration period, duration least)
      : name_(std::move(name)), script_(s), clock_(clock), period_(period), least_(least) {}
  std::string_view name() const noexcept override { return name_; }
  duration period() const noexcept override { return period_; }
  duration least_period() const noexcept override { return least_; }
  void set_interest(const wire::interest& wanted) override {
    script_.wanted = wanted;
    ++script_.told;
  }
  std::vector<finding> probe() override { return {}; }
  std::string limitation() const override { return script_.limitation; }
  result<void> discover(board& out) override {
    ++script_.discovered;
    if (script_.on_discover) return *script_.on_discover;
    group_ = out.add_group(name_, "", period_, 10s);
    series_ = out.add_series(group_, name_ + "_value", {}, 0);
    return {};
  }
  result<void> read(board& out) override {
    ++script_.reads;
    clock_.now += script_.takes;
    if (script_.throws) throw std::runtime_error("a library threw");
    if (script_.on_read) return *script_.on_read;
    out.set(series_, std::int64_t{script_.reads});
    return {};
  }

 private:
  std::string name_;
  script& script_;
  fake_clock& clock_;
  duration period_, least_;
  board::group_ref group_ = 0;
  board::series_ref series_ = 0;
};

struct bench {
  bench()
      : s(out, logger("test", log_level::info, [this](std::string_view line) { said.emplace_back(line); }),
          clock.source()) {}
  void add(std::string name, script& what, duration period = 1s, duration least = 200ms) {
    s.add(std::make_unique<scripted>(std::move(name), what, clock, period, least));
  }
  void start() { s.start(clock.now); }
  /// Lets time pass as a timer does, waking at each deadline.
  void pass(duration span) {
    const auto until = clock.now + span;
    while (s.next_deadline() <= until) {
      clock.now = std::max(clock.now, s.next_deadline());
      s.run(clock.now);
    }
    clock.now = until;
  }
  /// How many lines of the log contain `text`.
  std::ptrdiff_t lines(std::string_view text) const {
    return std::ranges::count_if(said, [text](const auto& l) { return l.find(text) != l.npos; });
  }
  const wire::source_status* status(const std::string& source) {
    for (const auto& st : out.statuses()) {
      if (st.source == source) return &st;
    }
    return nullptr;
  }

  fake_clock clock;
  board out;
  std::vector<std::string> said;
  sampler s;
};

}  // namespace

TEST_SUITE_BEGIN("agent/sampling/sampler");

TEST_CASE("each source is read on its own period") {
  bench b;
  script fast, slow;
  b.add("fast", fast);
  b.add("slow", slow, 5s);
  b.start();
  b.pass(10s);
  CHECK(fast.reads == 11);
  CHECK(slow.reads == 3);
  CHECK(fast.discovered == 1);
  CHECK(b.status("fast")->ok);
}

// Checklist: one broken source never stops the others, and comes back by itself.
TEST_CASE("a source that fails stops no other and comes back by itself") {
  bench b;
  script good, bad;
  b.add("bad", bad);
  b.add("good", good);
  b.start();
  b.pass(2s);
  SUBCASE("by an error") { bad.on_read = error{errc::permission, "not for you"}; }
  SUBCASE("by an exception") { bad.throws = true; }
  b.pass(10s);
  CHECK(good.reads == 13);
  CHECK(b.status("good")->ok);
  CHECK(!b.status("bad")->ok);
  CHECK(shown(b.out, "bad_value") == (bad.throws ? "no_data" : "permission"));
  CHECK(shown(b.out, "good_value") == "13");
  CHECK(bad.discovered == 4);  // at the start, then 1, 3 and 7 s after it broke
  bad = {};
  b.pass(1s);
  CHECK(b.status("bad")->ok);
  CHECK(shown(b.out, "bad_value") == "1");
}

TEST_CASE("a source that is not there is looked for with back-off, up to once a minute") {
  bench b;
  script none;
  none.on_discover = error{errc::unsupported, "no such machine"};
  b.add("none", none);
  b.start();
  CHECK(b.status("none")->message == "no such machine");
  b.pass(1s);
  CHECK(none.discovered == 2);
  b.pass(62s);
  CHECK(none.discovered == 7);  // at 0, 1, 3, 7, 15, 31, 63 s
  b.pass(600s);
  CHECK(none.discovered == 17);
  CHECK(none.reads == 0);
  none.on_discover.reset();
  b.pass(60s);
  CHECK(b.status("none")->ok);
  CHECK(none.reads > 0);
}

TEST_CASE("what works is looked at again every five minutes, what works in part sooner") {
  bench b;
  script s;
  b.add("s", s);
  b.start();
  b.pass(2s);
  CHECK(s.discovered <= 2);
  const auto before = s.discovered;
  SUBCASE("all well") {
    b.pass(10min);
    CHECK(s.discovered == before + 2);
  }
  SUBCASE("in part") {
    s.limitation = "a zone is missing";
    b.pass(30s);
    CHECK(s.discovered >= before + 4);
    CHECK(b.status("s")->ok);
    CHECK(b.status("s")->message == "a zone is missing");
  }
}

// Before, "(and 11 problems more)", "(and 13 problems more)", … filled the log.
TEST_CASE("a source that works in part says so once, however the rest of it changes") {
  bench b;
  script parts;
  b.add("parts", parts);
  parts.limitation = "one: broken (and 11 problems more)";
  b.start();
  b.pass(1s);
  CHECK(b.lines("source parts works in part: one: broken") == 1);
  for (int i = 0; i < 100; ++i) {
    parts.limitation = fmt::format("one: broken (and {} problems more)", i % 12);
    b.pass(1s);
    // The status always has the present message. A source that works in part has a message and does not count
    // as failed.
    REQUIRE(b.status("parts") != nullptr);
    CHECK(b.status("parts")->ok);
    CHECK(b.status("parts")->message == parts.limitation);
  }
  CHECK(b.lines("parts works in part") == 1);
  SUBCASE("what is new is told at most once a minute") {
    for (int i = 0; i < 59; ++i) {
      parts.limitation = i % 2 == 0 ? "two: broken" : "three: broken";
      b.pass(1s);
    }
    CHECK(b.lines("parts works in part") == 2);
  }
  SUBCASE("what else there is to say counts beside the number") {
    parts.limitation = "one: broken (and 11 problems more); it is slow";
    b.pass(1min);
    CHECK(b.lines("; it is slow") == 1);
  }
  SUBCASE("a source that is well again is reported at once") {
    parts.limitation.clear();
    b.pass(1s);
    CHECK(b.lines("source parts works") == b.lines("source parts works in part") + 1);
  }
}

TEST_CASE("that there are more problems than before is told, at most once a minute") {
  bench b;
  script parts;
  b.add("parts", parts);
  parts.limitation = "one: broken";
  b.start();
  b.pass(1s);
  for (int i = 1; i < 59; ++i) {
    parts.limitation = fmt::format("one: broken (and {} {} more)", i, i == 1 ? "problem" : "problems");
    b.pass(1s);
  }
  CHECK(b.lines("parts works in part") == 1);
  b.pass(1min);
  CHECK(b.lines("(and 58 problems more)") == 1);
  CHECK(b.lines("parts works in part") == 2);
  // Fixed and broken again. There were this many problems before, but not recently.
  parts.limitation = "one: broken (and 1 problem more)";
  b.pass(2min);
  CHECK(b.lines("parts works in part") == 2);
  parts.limitation = "one: broken (and 2 problems more)";
  b.pass(2min);
  CHECK(b.lines("(and 2 problems more)") == 1);
  CHECK(b.lines("parts works in part") == 3);
}

TEST_CASE("the log has no period of a source that is not there") {
  bench b;
  script absent;
  absent.on_discover = error{errc::unsupported, "no RAPL"};
  b.add("rapl", absent);
  b.start();
  b.s.set_interest(1, {{{"rapl_power_watts", 200}}}, b.clock.now);
  b.pass(5s);
  CHECK(b.lines("is read every") == 0);
}

TEST_CASE("interest shortens a source's period, within what it allows, for as long as a link wants it") {
  bench b;
  script rapl, os;
  b.add("rapl", rapl);
  b.add("os", os, 1s, 1s);
  b.start();
  b.pass(0s);
  const auto period = [&](std::size_t i) { return b.s.report()[i].period; };
  b.s.set_interest(0, {{{"rapl_power_watts", 500}, {"os_load1", 100}, {"unknown_family", 1}}}, b.clock.now);
  CHECK(period(0) == 500ms);
  CHECK(period(1) == 1s);
  b.s.set_interest(1, {{{"rapl_zone_power_watts", 10}}}, b.clock.now);
  CHECK(period(0) == 200ms);
  const auto reads = rapl.reads;
  b.pass(10s);
  CHECK(rapl.reads == reads + 50);
  b.s.set_interest(1, {}, b.clock.now);
  CHECK(period(0) == 500ms);
  b.s.set_interest(0, {{{"rapl_power_watts", 60'000}}}, b.clock.now);
  CHECK(period(0) == 1s);  // never slower than configured
}

// Before, each change of mind lost the tick that was due, and wrote a line.
TEST_CASE("an aggregator that changes its mind all the time takes no reading away and fills no log") {
  bench b;
  script rapl;
  b.add("rapl", rapl);
  b.start();
  b.pass(0s);
  const auto reads = rapl.reads;
  for (int i = 0; i < 5000; ++i) {
    b.clock.now += 1ms;
    b.s.set_interest(0, i % 2 == 0 ? wire::interest{{{"rapl_power_watts", 300}}} : wire::interest{},
                     b.clock.now);
    if (b.s.next_deadline() <= b.clock.now) b.s.run(b.clock.now);
  }
  CHECK(rapl.reads >= reads + 5);
  CHECK(b.lines("is read every") <= 4);
}

TEST_CASE("a source is told which of its families are wanted, and when none is any more") {
  bench b;
  script rapl, file;
  b.add("rapl", rapl);
  b.add("file", file);
  b.start();
  b.pass(0s);
  b.s.set_interest(0, {{{"file_value", 700}, {"rapl_power_watts", 200}, {"rapl_tdp_watts", 1000}}},
                   b.clock.now);
  REQUIRE(rapl.wanted.wishes.size() == 2);
  CHECK(rapl.wanted.wishes[0].family == "rapl_power_watts");
  CHECK(rapl.wanted.wishes[0].period_ms == 200);
  CHECK(rapl.wanted.wishes[1].family == "rapl_tdp_watts");
  // A family that is not in METRICS.md belongs to the source that brought it.
  REQUIRE(file.wanted.wishes.size() == 1);
  CHECK(file.wanted.wishes[0].period_ms == 700);
  CHECK(b.s.report()[1].period == 700ms);
  b.s.set_interest(1, {{{"rapl_tdp_watts", 500}}}, b.clock.now);
  CHECK(rapl.wanted.wishes[1].period_ms == 500);
  CHECK(file.told == 1);
  b.s.set_interest(0, {}, b.clock.now);
  b.s.set_interest(1, {}, b.clock.now);
  CHECK(rapl.wanted.wishes.empty());
  CHECK(b.s.report()[0].period == 1s);
}

TEST_CASE("a family whose series come later is of their source from then on") {
  bench b;
  script file;
  b.add("file", file);
  b.s.set_interest(0, {{{"file_value", 500}}}, b.clock.now);
  CHECK(file.told == 0);
  b.start();
  b.pass(1s);
  CHECK(file.wanted.wishes.size() == 1);
}

TEST_CASE("what a lost link wanted is read on for two minutes, and longer if it is back before") {
  bench b;
  script rapl;
  b.add("rapl", rapl);
  b.start();
  const wire::interest wanted{{{"rapl_power_watts", 200}}};
  b.s.set_interest(0, wanted, b.clock.now);
  b.s.lose_interest(0, b.clock.now);
  b.pass(119s);
  CHECK(b.s.report()[0].period == 200ms);
  SUBCASE("it stays away") {
    b.pass(2s);
    CHECK(b.s.report()[0].period == 1s);
    CHECK(rapl.wanted.wishes.empty());
  }
  SUBCASE("it comes back") {
    b.s.set_interest(0, wanted, b.clock.now);
    b.pass(10min);
    CHECK(b.s.report()[0].period == 200ms);
  }
}

TEST_CASE("a source that is slow to read is read less often than wanted, and says so") {
  bench b;
  script rapl;
  b.add("rapl", rapl);
  rapl.takes = 1500us;  // 0.75 % of a core at 5 Hz, 0.375 % at 2.5 Hz
  b.start();
  b.s.set_interest(0, {{{"rapl_power_watts", 200}}}, b.clock.now);
  b.pass(5s);
  CHECK(b.s.report()[0].period == 400ms);
  CHECK(b.status("rapl")->ok);
  CHECK(b.status("rapl")->message.find("every 400ms instead of every 200ms") != std::string::npos);
  rapl.takes = 900us;  // within the budget, but barely
  b.pass(30s);
  CHECK(b.s.report()[0].period == 400ms);
  rapl.takes = 100us;
  b.pass(30s);
  CHECK(b.s.report()[0].period == 200ms);
  CHECK(b.status("rapl")->message.empty());
  rapl.takes = 50ms;
  b.pass(60s);
  CHECK(b.s.report()[0].period == 1s);  // the source's own period, which the user chose
}

TEST_CASE("missed ticks are counted for the source that missed them") {
  bench b;
  script s;
  b.add("s", s);
  b.start();
  b.pass(1s);
  b.clock.now += 4500ms;
  b.s.run(b.clock.now);
  CHECK(b.s.report()[0].missed == 3);
  CHECK(b.s.next_deadline() - b.clock.now == 500ms);
}

TEST_CASE("without sources there is no deadline") {
  bench b;
  b.start();
  CHECK(b.s.next_deadline() == instant::max());
  CHECK(!b.s.run(b.clock.now));
}

TEST_CASE("a source that waits for others is read at once when something has arrived, and its ticks stay") {
  bench b;
  script waiting, other;
  b.add("waiting", waiting, 1s);
  b.add("other", other, 1s);
  b.start();
  b.pass(500ms);
  REQUIRE(waiting.reads == 1);
  b.s.arrived("waiting");
  CHECK(b.s.next_deadline() <= b.clock.now);
  b.s.run(b.clock.now);
  CHECK(waiting.reads == 2);
  CHECK(other.reads == 1);
  b.pass(500ms);
  CHECK(waiting.reads == 3);
  CHECK(other.reads == 2);
}

TEST_SUITE_END();

}  // namespace sampler_test
