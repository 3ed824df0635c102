#include "aggregator/sender/triage.hpp"

#include <doctest/doctest.h>

namespace binnacle::sender {
namespace triage_test {

using namespace std::chrono_literals;

outcome refused(std::uint64_t left_out, bool of_content = true) {
  return {outcome::kind::refused, {}, "no", left_out, of_content};
}
outcome failed(bool of_content = true) { return {outcome::kind::later, {}, "failed", 0, of_content}; }
parcel request_of(std::size_t nodes) { return {"body", 10 * nodes, {}, nullptr, nodes}; }
fate of(triage& t, const outcome& o, parcel p, instant now) { return t.of(o, p, now); }

}  // namespace triage_test

TEST_SUITE("aggregator/sender/triage") {
  using namespace triage_test;

  TEST_CASE("a request of several nodes that is refused for its content is sent again in halves") {
    triage t;
    const instant now(1h);
    CHECK(of(t, refused(40), request_of(4), now) == fate::in_halves);
    CHECK(of(t, refused(20), request_of(2), now) == fate::in_halves);
    CHECK(of(t, refused(10), request_of(1), now) == fate::over);
    CHECK(of(t, {}, request_of(4), now) == fate::over);
    CHECK(of(t, failed(false), request_of(4), now) == fate::again);
  }

  TEST_CASE("a request is not sent again for rights or size, nor when the server took the rest of it") {
    triage t;
    CHECK(of(t, refused(40, false), request_of(4), instant(1h)) == fate::over);
    CHECK(of(t, refused(1), request_of(4), instant(1h)) == fate::over);
  }

  TEST_CASE("a server that refuses whatever it gets is sent halves for a short while, now and then") {
    triage t;
    instant now(1h);
    const auto halved = [&] {
      int out = 0;
      for (int i = 0; i < 2000; ++i) out += of(t, refused(40), request_of(4), now) == fate::in_halves ? 1 : 0;
      return out;
    };
    CHECK(halved() == 255);
    CHECK(halved() == 0);
    now += 10min;
    CHECK(halved() == 255);
  }

  TEST_CASE("a server that takes something in between is sent halves without end") {
    triage t;
    for (int i = 0; i < 2000; ++i) {
      CHECK(of(t, refused(40), request_of(4), instant(1h)) == fate::in_halves);
      of(t, {}, request_of(4), instant(1h));
    }
  }

  TEST_CASE("a request at which the server fails, and at no other, is given up, after some attempts") {
    triage t;
    instant now(1h);
    parcel p = request_of(1);
    for (int i = 1; i < 6; ++i) {
      CHECK(t.of(failed(), p, now) == fate::again);
      now += 3s;
    }
    CHECK(t.of(failed(), p, now) == fate::after_next);
    CHECK(of(t, {}, request_of(1), now += 1s) == fate::over);
    // One failure beside a success is not enough: perhaps one of two backends is down.
    CHECK(t.of(failed(), p, now += 1s) == fate::after_next);
    CHECK(t.of(failed(), p, now += 1s) == fate::after_next);
    CHECK(t.of(failed(), p, now += 1s) == fate::given_up);
    // The next ones are known sooner, for some time.
    parcel q = request_of(1);
    CHECK(t.of(failed(), q, now += 1s) == fate::again);
    CHECK(t.of(failed(), q, now += 1s) == fate::after_next);
    now += 20min;
    parcel r = request_of(1);
    for (int i = 1; i < 6; ++i) CHECK(t.of(failed(), r, now += 1s) == fate::again);
  }

  TEST_CASE("a request of several nodes at which the server fails is sent in halves") {
    triage t;
    instant now(1h);
    parcel p = request_of(4);
    for (int i = 1; i < 6; ++i) CHECK(t.of(failed(), p, now += 1s) == fate::again);
    CHECK(t.of(failed(), p, now += 1s) == fate::in_halves);
    parcel half = request_of(2), node = request_of(1);
    half.failures = node.failures = p.failures;
    half.failing_since = node.failing_since = p.failing_since;
    CHECK(t.of(failed(), half, now += 1s) == fate::in_halves);
    CHECK(of(t, {}, request_of(1), now += 1s) == fate::over);
    CHECK(t.of(failed(), node, now += 1s) == fate::after_next);
    CHECK(t.of(failed(), node, now += 1s) == fate::after_next);
    CHECK(t.of(failed(), node, now += 1s) == fate::given_up);
  }

  TEST_CASE("a server that took a request a while ago and fails at everything since costs no samples") {
    triage t;
    instant now(1h);
    parcel p = request_of(1);
    for (int i = 0; i < 6; ++i) t.of(failed(), p, now += 1s);
    CHECK(of(t, {}, request_of(1), now += 1s) == fate::over);
    CHECK(t.of(failed(), p, now += 1s) == fate::after_next);
    now += 2min;
    for (int i = 0; i < 1000; ++i) CHECK(t.of(failed(), p, now += 1s) != fate::given_up);
  }

  TEST_CASE("defect: while a server fails at everything, a request let the next one pass at each failure") {
    triage t;
    instant now(1h);
    parcel p = request_of(1);
    int passed = 0;
    for (int i = 0; i < 605; ++i) passed += t.of(failed(), p, now += 1s) == fate::after_next ? 1 : 0;
    CHECK(passed == 100);
  }

  TEST_CASE("while a server fails at everything, or is away, nothing is given up") {
    triage t;
    instant now(1h);
    CHECK(of(t, {}, request_of(1), now) == fate::over);
    parcel p = request_of(1), q = request_of(1), of_a_server_away = request_of(4);
    for (int i = 0; i < 1000; ++i) {
      CHECK(t.of(failed(), p, now += 1s) != fate::given_up);
      CHECK(t.of(failed(), q, now += 1s) != fate::given_up);
      CHECK(t.of(failed(false), of_a_server_away, now += 1s) == fate::again);
    }
  }
}

}  // namespace binnacle::sender
