#include "aggregator/kube/events/event_recorder.hpp"

#include "aggregator/kube/json.hpp"
#include "common/text/json_members.hpp"

#include <doctest/doctest.h>

namespace event_recorder_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using kube::event_recorder;

const kube::object_reference power{"TASPolicy", "telemetry.intel.com/v1alpha1", "ops", "power", "uid-1"};
const kube::object_reference node{"Node", "v1", "", "n1", "uid-2"};

const kube::note of_another_tenant{{"TASPolicy", "telemetry.intel.com/v1alpha1", "other", "heat", "uid-3"},
                                   false,
                                   "PolicyAccepted",
                                   "Read",
                                   "accepted"};

kube::note invalid(const std::string& text = "a rule is wrong") {
  return {power, true, "PolicyInvalid", "Read", text};
}

struct writer {
  event_recorder machine{{"binnacle-aggregator", "pod-1"}};
  instant now{1h};

  event_recorder::wall clock() const {
    return event_recorder::wall(1'800'000'000s + (now - instant(1h)) / 1us * 1us);
  }
  void say(const kube::note& n) { machine.record(n, now, clock()); }
  /// Writes the events that are due. Returns the requests' methods, as "POST PATCH ".
  std::string turn(http::answer answer = {201, {}, "{}"}) {
    std::string out;
    while (const auto c = machine.next(now, clock())) {
      out += c->method + " ";
      last = *c;
      machine.answered(answer, now);
    }
    return out;
  }
  /// Whether one of the next so many writes is an event in this namespace.
  bool writes_for(const std::string& name_space, int writes) {
    for (int i = 0; i < writes; ++i) {
      if (const auto due = machine.wakes(now)) now = *due;
      const auto c = machine.next(now, clock());
      if (!c) return false;
      machine.answered({201, {}, "{}"}, now);
      if (c->target.find("/namespaces/" + name_space + "/") != std::string::npos) return true;
    }
    return false;
  }
  http::call last{};
};

TEST_SUITE("aggregator/kube/events/event_recorder") {
  TEST_CASE("an event has what the API asks for") {
    writer w;
    w.say(invalid());
    CHECK(w.turn() == "POST ");
    CHECK(w.last.target == "/apis/events.k8s.io/v1/namespaces/ops/events");
    const auto e = kube::parse_object(w.last.body).value();
    const auto& meta = *object_in(e, "metadata");
    CHECK(text_in(meta, "name") == "power.18fae27693b40000");
    CHECK(text_in(meta, "namespace") == "ops");
    CHECK(text_in(e, "type") == "Warning");
    CHECK(text_in(e, "eventTime") == "2027-01-15T08:00:00.000000Z");
    CHECK(text_in(e, "reportingController") == "binnacle-aggregator");
    CHECK(text_in(e, "reportingInstance") == "pod-1");
    CHECK(text_in(*object_in(e, "regarding"), "uid") == "uid-1");
    CHECK_FALSE(w.machine.wakes(w.now).has_value());
  }

  TEST_CASE("an event about a node lives in the namespace default") {
    writer w;
    w.say({node, false, "PolicyViolated", "Label", "violates ops/power"});
    w.turn();
    CHECK(w.last.target == "/apis/events.k8s.io/v1/namespaces/default/events");
    CHECK(object_in(*object_in(kube::parse_object(w.last.body).value(), "regarding"), "namespace") ==
          nullptr);
  }

  TEST_CASE("a repeat becomes a count, further ones are written now and then, and at the end") {
    writer w;
    w.say(invalid());
    CHECK(w.turn() == "POST ");
    const auto name =
        std::string(text_in(*object_in(kube::parse_object(w.last.body).value(), "metadata"), "name"));
    w.now += 10s;
    w.say(invalid());
    CHECK(w.turn() == "PATCH ");
    CHECK(w.last.target == "/apis/events.k8s.io/v1/namespaces/ops/events/" + name);
    CHECK(w.last.body == R"({"series":{"count":2,"lastObservedTime":"2027-01-15T08:00:10.000000Z"}})");
    for (int i = 0; i < 60; ++i) {
      w.now += 20s;
      w.say(invalid());
      CHECK(w.turn() == "");
    }
    w.now += 6min;
    CHECK(w.turn() == "PATCH ");
    CHECK(w.last.body.find("\"count\":62") != std::string::npos);
    w.now += 1min;
    w.say(invalid());
    CHECK(w.turn() == "POST ");
  }

  TEST_CASE("other words are another event") {
    writer w;
    w.say(invalid());
    w.say(invalid("a strategy is unknown"));
    CHECK(w.turn() == "POST POST ");
  }

  TEST_CASE("a flood is thinned, and what does not fit is dropped and counted") {
    writer w;
    for (int i = 0; i < 2000; ++i) w.say(invalid("rule " + std::to_string(i)));
    CHECK(w.machine.stats().dropped == 2000 - 256);
    std::size_t posts = w.turn().size() / 5;
    CHECK(posts == 25);
    const auto wakes = w.machine.wakes(w.now);
    REQUIRE(wakes.has_value());
    CHECK(*wakes > w.now);
    CHECK(*wakes <= w.now + 2100ms);
    w.now = *wakes;
    CHECK(w.turn() == "POST ");
    w.now += 10s;
    CHECK(w.turn().size() / 5 == 5);
  }

  TEST_CASE("a flood in one namespace keeps no event of another one waiting") {
    writer w;
    for (int i = 0; i < 300; ++i) w.say(invalid("rule " + std::to_string(i)));
    w.say(of_another_tenant);
    CHECK(w.writes_for("other", 2));
    w.say(of_another_tenant);  // its first repeat
    w.say({node, false, "PolicyViolated", "Label", "violates ops/power"});
    CHECK(w.writes_for("default", 3));
    CHECK(w.writes_for("other", 3));
    CHECK(w.machine.stats().dropped == 300 - 256 + 1);  // the flood made room
  }

  TEST_CASE("a namespace that goes on with a thousand kinds of events does not take the others' places") {
    writer w{event_recorder({"binnacle-aggregator", "pod-1", 256, 100'000})};
    for (int i = 0; i < 1'100; ++i) {
      w.say(invalid("rule " + std::to_string(i)));
      w.turn();
    }
    const auto dropped = w.machine.stats().dropped;
    REQUIRE(dropped > 0);  // there is no room left
    w.say(of_another_tenant);
    CHECK(w.machine.stats().dropped == dropped);
    CHECK(w.writes_for("other", 2));
  }

  TEST_CASE("within a namespace warnings are written first, and other events give way to them") {
    writer w;
    for (int i = 0; i < 256; ++i)
      w.say({power, false, "PolicyAccepted", "Read", "revision " + std::to_string(i)});
    w.say(invalid());
    CHECK(w.machine.stats().dropped == 1);
    const auto first = w.machine.next(w.now, w.clock());
    REQUIRE(first.has_value());
    CHECK(text_in(kube::parse_object(first->body).value(), "type") == "Warning");
  }

  TEST_CASE("an event that is said again while it is refused for good is tried once more: this was a crash") {
    writer w;
    w.say(invalid());
    REQUIRE(w.machine.next(w.now, w.clock()).has_value());
    w.say(invalid());
    w.machine.answered({403, {}, "{}"}, w.now);
    w.now += 1s;
    CHECK(w.turn({403, {}, "{}"}) == "POST ");
    w.now += 1h;
    CHECK(w.turn() == "");
    CHECK(w.machine.stats().dropped == 2);
  }

  TEST_CASE("a server in trouble is left in peace, and loses nothing that fits") {
    writer w;
    w.say(invalid());
    CHECK(w.turn({429, {{"retry-after", "30"}}, "{}"}) == "POST ");
    CHECK(*w.machine.wakes(w.now) == w.now + 30s);
    w.now += 30s;
    REQUIRE(w.machine.next(w.now, w.clock()).has_value());
    w.machine.broke({errc::timeout, "late"}, w.now);  // the second failure: the pause has doubled
    w.now += 19s;
    CHECK(w.turn() == "");
    w.now += 1s;
    CHECK(w.turn() == "POST ");
    CHECK(w.machine.stats().written == 1);
    // After a success the pause is short again.
    w.say(invalid("another"));
    REQUIRE(w.machine.next(w.now, w.clock()).has_value());
    w.machine.broke({errc::timeout, "late"}, w.now);
    CHECK(*w.machine.wakes(w.now) == w.now + 10s);
  }

  TEST_CASE("an event whose hour is over is made anew with its count") {
    writer w;
    w.say(invalid());
    w.turn();
    w.now += 1s;
    w.say(invalid());
    REQUIRE(w.machine.next(w.now, w.clock()).has_value());
    w.machine.answered({404, {}, "{}"}, w.now);
    CHECK(w.turn() == "POST ");
    CHECK(w.last.body.find(R"("series":{"count":2,)") != std::string::npos);
  }

  TEST_CASE("what is refused for good is not tried again") {
    writer w;
    w.say(invalid());
    CHECK(w.turn({403, {}, "{}"}) == "POST ");
    w.now += 1h;
    CHECK(w.turn() == "");
    CHECK(w.machine.stats().dropped == 1);
    w.say(invalid());
    CHECK(w.turn() == "POST ");
  }

  TEST_CASE("long texts are cut, not within a character") {
    writer w;
    std::string text(1023, 'x');
    w.say(invalid(text + "é and more"));
    w.turn();
    CHECK(text_in(kube::parse_object(w.last.body).value(), "note") == text);
  }
}

}  // namespace

}  // namespace event_recorder_test
