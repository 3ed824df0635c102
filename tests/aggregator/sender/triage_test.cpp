#include "aggregator/sender/triage.hpp"

#include <doctest/doctest.h>

namespace binnacle::sender {
namespace triage_test {

using namespace std::chrono_literals;

outcome refused(std::uint64_t left_out, bool of_content = true) {
  return {outcome::kind::refused, {}, "no", left_out, of_content};
}
parcel request_of(std::size_t nodes) { return {"body", 10 * nodes, {}, nullptr, nodes}; }

}  // namespace triage_test

TEST_SUITE("aggregator/sender/triage") {
  using namespace triage_test;

  TEST_CASE("a request of several nodes that is refused for its content is sent again in halves") {
    triage t;
    const instant now(1h);
    CHECK(t.of(refused(40), request_of(4), now) == fate::in_halves);
    CHECK(t.of(refused(20), request_of(2), now) == fate::in_halves);
    CHECK(t.of(refused(10), request_of(1), now) == fate::over);
    CHECK(t.of({}, request_of(4), now) == fate::over);
    CHECK(t.of({outcome::kind::later, {}, "away"}, request_of(4), now) == fate::again);
  }

  TEST_CASE("a request is not sent again for rights or size, nor when the server took the rest of it") {
    triage t;
    CHECK(t.of(refused(40, false), request_of(4), instant(1h)) == fate::over);
    CHECK(t.of(refused(1), request_of(4), instant(1h)) == fate::over);
  }

  TEST_CASE("a server that refuses whatever it gets is sent halves for a short while, now and then") {
    triage t;
    instant now(1h);
    const auto halved = [&] {
      int out = 0;
      for (int i = 0; i < 2000; ++i) out += t.of(refused(40), request_of(4), now) == fate::in_halves ? 1 : 0;
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
      CHECK(t.of(refused(40), request_of(4), instant(1h)) == fate::in_halves);
      t.of({}, request_of(4), instant(1h));
    }
  }
}

}  // namespace binnacle::sender
