#include "agent/sources/bmc/supervisor.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <ostream>
#include <string>

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;
using action = supervisor::action;

namespace binnacle::agent {
inline std::ostream& operator<<(std::ostream& out, supervisor::action a) {
  constexpr const char* names[] = {"none", "start", "ping", "end"};
  return out << names[static_cast<int>(a)];
}
}  // namespace binnacle::agent

namespace {

struct dialogue {
  explicit dialogue(bool child = true) : s(with(child), 1) {}
  static supervisor::settings with(bool child) {
    supervisor::settings s;
    s.child = child;
    return s;
  }
  /// Lets time pass up to the next deadline, and gives the action that is due then.
  action next() {
    REQUIRE(s.deadline() != instant::max());
    now = std::max(now, s.deadline());
    return s.next(now);
  }
  /// Like next(), but answers pings.
  action next_but_pings() {
    for (;;) {
      const auto what = next();
      if (what != action::ping) return what;
      s.pong(s.ping());
    }
  }
  void bring_up() {
    s.allow(now);
    REQUIRE(next() == action::start);
    s.started(now);
    s.hello(3s, now);
    s.status(true, false, "", now);
  }

  instant now = instant(1h);
  supervisor s;
};

TEST_SUITE_BEGIN("agent/sources/bmc/supervisor");

TEST_CASE("nothing is started before there may be a BMC") {
  dialogue d;
  CHECK(d.s.deadline() == instant::max());
  CHECK(d.s.next(d.now) == action::none);
  CHECK(d.s.idle());
  d.s.allow(d.now);
  CHECK(d.s.next(d.now) == action::start);
  CHECK(d.s.next(d.now) == action::none);
  CHECK(d.s.trouble().has_value());
}

TEST_CASE("a helper in health is pinged and left alone") {
  dialogue d;
  d.bring_up();
  CHECK(d.s.talking());
  CHECK_FALSE(d.s.trouble().has_value());
  for (int i = 1; i <= 100; ++i) {
    REQUIRE(d.next() == action::ping);
    CHECK(d.s.ping() == static_cast<std::uint64_t>(i));
    d.now += 100ms;
    d.s.pong(d.s.ping());
  }
  CHECK(d.s.counted().starts == 1);
  CHECK(d.s.counted().hung == 0);
}

TEST_CASE(
    "a helper that does not answer within what it promised is ended, and started again when it is gone") {
  dialogue d;
  d.bring_up();
  REQUIRE(d.next() == action::ping);
  const auto asked = d.now;
  SUBCASE("no answer") {}
  SUBCASE("an answer to another question") { d.s.pong(d.s.ping() + 7); }
  REQUIRE(d.next() == action::end);
  CHECK(d.now - asked == 5s);  // the 3 s for which the helper asked, and 2 s
  REQUIRE(d.s.trouble().has_value());
  CHECK(d.s.trouble()->code == errc::timeout);
  CHECK(d.s.counted().hung == 1);

  // The helper hangs in the kernel and cannot be killed. No other one is started beside it.
  CHECK(d.s.deadline() == instant::max());
  d.now += 10min;
  CHECK(d.s.next(d.now) == action::none);
  d.s.gone("signal 9", d.now);
  const auto gone = d.now;
  REQUIRE(d.next() == action::start);
  CHECK(d.now - gone >= 1s);
  CHECK(d.now - gone <= 2s);
  CHECK(d.s.counted().ended == 0);
  CHECK(d.s.trouble()->code == errc::timeout);  // it stays until a helper works again
}

TEST_CASE("one that answers but reads nothing is ended, too") {
  dialogue d;
  d.bring_up();
  d.s.planned(1s, d.now);
  const auto planned = d.now;
  REQUIRE(d.next_but_pings() == action::end);
  CHECK(d.now - planned == 60s);
  CHECK(d.s.counted().hung == 1);
}

TEST_CASE("no reading is missed where none is expected") {
  dialogue d;
  d.bring_up();
  const auto lives = [&] {
    const auto until = d.now + 2h;
    while (d.now < until) {
      REQUIRE(d.next() == action::ping);
      d.s.pong(d.s.ping());
    }
  };
  SUBCASE("nothing is selected") { d.s.planned(std::nullopt, d.now); }
  SUBCASE("the BMC does not answer, which the helper said") {
    d.s.planned(1s, d.now);
    d.s.status(false, false, "no answer from 10.0.0.7", d.now);
  }
  lives();
  CHECK(d.s.counted().hung == 0);
}

TEST_CASE("a slow BMC has the time that its plan says") {
  dialogue d;
  d.bring_up();
  d.s.planned(60s, d.now);
  const auto planned = d.now;
  d.now += 4min;
  d.s.next(d.now);
  d.s.pong(d.s.ping());
  d.s.reading(d.now);
  REQUIRE(d.next_but_pings() == action::end);
  CHECK(d.now - planned == 4min + 10min + 5s);
}

TEST_CASE("the pause grows with every failure up to a minute, and starts anew after a steady minute") {
  dialogue d;
  d.s.allow(d.now);
  duration longest{};
  for (int i = 0; i < 40; ++i) {
    REQUIRE(d.next() == action::start);
    d.s.not_started({errc::not_found, "binnacle-ipmi is not there"}, d.now);
    const auto pause = d.s.deadline() - d.now;
    CHECK(pause >= 1s);
    CHECK(pause <= 60s);
    longest = std::max(longest, pause);
  }
  CHECK(longest > 30s);
  CHECK(d.s.counted().failures == 40);
  CHECK(d.s.trouble()->message == "binnacle-ipmi is not there");

  REQUIRE(d.next() == action::start);
  d.s.started(d.now);
  d.s.hello(3s, d.now);
  d.now += 61s;
  d.s.gone("status 1", d.now);
  CHECK(d.s.deadline() - d.now <= 2s);
  CHECK(d.s.counted().ended == 1);
}

TEST_CASE("a helper that says nothing is ended after ten seconds") {
  dialogue d;
  d.s.allow(d.now);
  REQUIRE(d.next() == action::start);
  d.s.started(d.now);
  const auto started = d.now;
  REQUIRE(d.next() == action::end);
  CHECK(d.now - started == 10s);
  CHECK(d.s.counted().hung == 1);
}

TEST_CASE("one that breaks the protocol is ended") {
  dialogue d;
  d.bring_up();
  d.s.broke({errc::protocol, "a line of more than 65536 bytes"});
  REQUIRE(d.s.next(d.now) == action::end);
  CHECK(d.s.counted().broke == 1);
  CHECK(d.s.trouble()->message.find("65536") != std::string::npos);
}

// Accounts are locked if a wrong password is tried again and again.
TEST_CASE("after a refused password nothing is started until the configuration is new") {
  dialogue d;
  d.bring_up();
  d.s.status(false, true, "the BMC refuses the password", d.now);
  CHECK(d.s.held());
  CHECK(d.s.trouble()->code == errc::permission);
  d.s.status(false, true, "the BMC refuses the password", d.now);
  CHECK(d.s.counted().refused == 1);
  SUBCASE("it ends by itself") { d.s.gone("status 3", d.now); }
  SUBCASE("it hangs and is ended") {
    REQUIRE(d.next() == action::ping);
    REQUIRE(d.next() == action::end);
    d.s.gone("signal 9", d.now);
  }
  CHECK(d.s.deadline() == instant::max());
  d.now += 10h;
  CHECK(d.s.next(d.now) == action::none);
  CHECK(d.s.trouble()->message == "the BMC refuses the password");
  d.s.credentials_changed(d.now);
  CHECK_FALSE(d.s.held());
  CHECK(d.s.next(d.now) == action::start);
}

// If two helpers tried a wrong password, the account would be locked sooner.
TEST_CASE("a living helper looks at new credentials itself") {
  dialogue d;
  d.bring_up();
  d.s.status(false, true, "the BMC refuses the password", d.now);
  d.s.credentials_changed(d.now);
  CHECK(d.next() == action::ping);
  CHECK(d.s.held());
  d.s.status(true, false, "", d.now);
  CHECK_FALSE(d.s.held());
}

TEST_CASE("a sidecar is dialled again whatever it said") {
  dialogue d(false);
  d.bring_up();
  d.s.status(false, true, "the BMC refuses the password", d.now);
  d.s.gone("", d.now);
  CHECK(d.s.deadline() - d.now <= 2s);
  REQUIRE(d.next() == action::start);
  d.s.started(d.now);
  d.s.hello(1s, d.now);
  d.s.status(true, false, "", d.now);
  CHECK_FALSE(d.s.held());
  CHECK_FALSE(d.s.trouble().has_value());
}

TEST_CASE("when it was us who did not run, nobody is blamed") {
  dialogue d;
  d.bring_up();
  d.s.planned(1s, d.now);
  REQUIRE(d.next() == action::ping);
  d.now += 8h;  // the machine slept
  CHECK(d.s.next(d.now) == action::none);
  d.s.pong(d.s.ping());
  CHECK(d.next() == action::ping);
  CHECK(d.s.counted().hung == 0);
}

TEST_SUITE_END();

}  // namespace
