#include "common/http/places.hpp"

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <vector>

namespace http_places_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using http::guest;
using http::places;
using http::worth;
using wait = guest::wait;

constexpr duration patience = 3s;
constexpr std::size_t most_answers = 1000;
const instant start{1h};

network net(std::uint8_t last) {
  network out;
  out.bytes.back() = last;
  return out;
}

/// A connection that leaves when it is told to go, as the real one does.
struct caller final : guest {
  caller(places& at, std::uint8_t from, instant now) : guest(net(from), now), at_(at) { at_.enter(*this); }
  ~caller() override { at_.leave(*this); }
  void evict() override { at_.leave(*this); }
  places& at_;
};

/// A port with this many places, and callers that took them.
struct port {
  explicit port(std::size_t most, std::size_t most_large = 2)
      : seats({most, most_large, most_answers}, patience) {}
  caller& arrives(std::uint8_t from, instant now = start) {
    return *callers.emplace_back(std::make_unique<caller>(seats, from, now));
  }
  caller& waits(std::uint8_t from, wait what, instant now = start) {
    caller& out = arrives(from);
    out.waits_for(what, now);
    return out;
  }
  caller& answered(std::uint8_t from, std::size_t bytes, instant since = start) {
    caller& out = waits(from, wait::peer, since);
    seats.enter_answer(out, bytes);
    return out;
  }
  guest* gives_way_to(std::uint8_t from, instant now = start + 1s) const {
    return seats.gives_way_to(net(from), now);
  }
  places seats;
  std::vector<std::unique_ptr<caller>> callers;
};

}  // namespace

TEST_SUITE("common/http/places") {
  TEST_CASE("what is lost with a connection follows from what it waits for, and who its caller is") {
    port p(10);
    caller& c = p.arrives(1);
    CHECK(c.worth_now(start, patience) == worth::unknown);
    c.was_served();
    CHECK(c.worth_now(start, patience) == worth::idle);
    c.waits_for(wait::handler, start);
    CHECK(c.worth_now(start + 1h, patience) == worth::none);
    c.waits_for(wait::peer, start);
    CHECK(c.worth_now(start + patience - 1ms, patience) == worth::moving);
    CHECK(c.worth_now(start + patience, patience) == worth::stuck);
    c.showed_certificate();
    CHECK(c.worth_now(start + patience - 1ms, patience) == worth::none);
    CHECK(c.worth_now(start + patience, patience) == worth::stuck);
    c.waits_for(wait::end, start);
    CHECK(c.worth_now(start, patience) == worth::unknown);
  }

  TEST_CASE("a byte now and then is no progress, a piece of a body is") {
    port p(10);
    caller& c = p.waits(1, wait::peer);
    c.came_on(http::least_progress - 1, start + 2s);
    CHECK(c.worth_now(start + 3s, patience) == worth::stuck);
    c.came_on(1, start + 2s);
    CHECK(c.worth_now(start + 3s, patience) == worth::moving);
    // Progress counts from the last that was enough.
    c.came_on(http::least_progress - 1, start + 4s);
    CHECK(c.worth_now(start + 5s, patience) == worth::stuck);
  }

  TEST_CASE("the connection that is worth least gives way, the oldest of equals") {
    port p(6);
    p.waits(1, wait::handler);
    p.waits(1, wait::peer, start);
    caller& young = p.waits(1, wait::request, start + 500ms);
    caller& old = p.waits(1, wait::request, start + 100ms);
    young.was_served();
    old.was_served();
    CHECK(p.gives_way_to(1) == &old);
    caller& silent = p.waits(1, wait::request, start + 900ms);
    CHECK(p.gives_way_to(1) == &silent);
    caller& ends = p.waits(1, wait::end, start + 950ms);
    CHECK(p.gives_way_to(1) == &silent);
    silent.evict();
    CHECK(p.gives_way_to(1) == &ends);
    ends.evict();
    old.evict();
    young.evict();
    CHECK(p.gives_way_to(1, start + 1s) == nullptr);
    CHECK(p.gives_way_to(1, start + patience) == p.callers[1].get());
  }

  TEST_CASE("the network with most places loses one, whoever is worth less elsewhere") {
    port p(4);
    p.arrives(1);
    caller& known = p.arrives(2);
    known.was_served();
    caller& also = p.waits(2, wait::request, start + 1ms);
    also.was_served();
    CHECK(p.gives_way_to(1) == &known);
  }

  TEST_CASE("requests that go on are cut only where a network has more than half of all places") {
    port p(4);
    for (int i = 0; i < 2; ++i) p.waits(1, wait::peer, start + i * 1ms);
    p.waits(2, wait::peer);
    p.waits(3, wait::peer);
    CHECK(p.gives_way_to(4) == nullptr);  // just half
    p.callers.back()->evict();
    CHECK(p.gives_way_to(4) == p.callers.front().get());
    CHECK(p.gives_way_to(1) == nullptr);  // a newcomer of that network itself
    p.callers.front()->showed_certificate();
    CHECK(p.gives_way_to(4) == p.callers[1].get());
  }

  TEST_CASE(
      "of the network for which most bytes of answers wait, the peer that has taken nothing for longest "
      "goes") {
    port p(10);
    caller& other = p.answered(1, 100);
    p.answered(2, 150, start + 500ms);
    caller& slow = p.answered(2, 150, start + 400ms);
    CHECK(p.seats.gives_way_to_answer(600, start + 1s) == nullptr);  // counts as 250
    p.answered(3, 250, start + 100ms);
    p.answered(2, 150, start + 600ms);
    CHECK(p.seats.gives_way_to_answer(200, start + 1s) == nullptr);  // it just fits
    CHECK(p.seats.gives_way_to_answer(201, start + 1s) == &slow);
    slow.evict();
    CHECK(p.seats.gives_way_to_answer(201, start + 1s) == nullptr);
    p.answered(2, 200, start + 900ms);
    // Of two networks with as much, the peer that has taken nothing for longest.
    p.seats.leave_answer(other);
    p.answered(3, 250, start + 50ms);
    CHECK(p.seats.gives_way_to_answer(1, start + 1s) == p.callers.back().get());
    // A peer that came on has its turn last.
    p.callers.back()->waits_for(wait::peer, start + 1s);
    CHECK(p.seats.gives_way_to_answer(1, start + 1s) == p.callers[3].get());
  }

  TEST_CASE("a peer that has stood still for the patience goes before a network with more bytes") {
    port p(10);
    caller& still = p.answered(1, 16);
    for (int i = 0; i < 4; ++i) p.answered(2, 245, start + 1s);
    CHECK(p.seats.gives_way_to_answer(100, start + patience - 1ms) != &still);
    CHECK(p.seats.gives_way_to_answer(100, start + patience) == &still);
  }

  TEST_CASE("answers beyond the bound displace neither all others nor one another at once") {
    port p(10);
    for (int i = 0; i < 3; ++i) p.answered(1, 100 * most_answers);
    CHECK(p.seats.gives_way_to_answer(100 * most_answers, start) == nullptr);
    p.answered(1, 100 * most_answers);
    CHECK(p.seats.gives_way_to_answer(1, start) == p.callers.front().get());
    for (auto& one : p.callers) p.seats.leave_answer(*one);
    CHECK(p.seats.gives_way_to_answer(100 * most_answers, start) == nullptr);
  }

  TEST_CASE("one more large buffer replaces the oldest of the network that has most of them") {
    port p(10, 3);
    for (const int from : {1, 2, 2}) {
      CHECK(p.seats.gives_way_to_large() == nullptr);
      p.seats.enter_large(p.arrives(static_cast<std::uint8_t>(from)));
    }
    guest* const replaced = p.seats.gives_way_to_large();
    CHECK(replaced == p.callers[1].get());
    replaced->evict();
    CHECK_FALSE(replaced->has_seat());
    CHECK(p.seats.gives_way_to_large() == nullptr);
    p.seats.enter_large(p.arrives(3));
    CHECK(p.seats.gives_way_to_large() != nullptr);
    // An answer gives the buffer back; the connection keeps its place.
    p.seats.leave_large(*p.callers[0]);
    CHECK(p.seats.gives_way_to_large() == nullptr);
    CHECK(p.callers[0]->has_seat());
  }

  TEST_CASE("a port is full until somebody leaves") {
    port p(2);
    p.arrives(1);
    CHECK_FALSE(p.seats.is_full());
    p.arrives(2);
    CHECK(p.seats.is_full());
    p.callers.back()->evict();
    CHECK_FALSE(p.seats.is_full());
    p.callers.pop_back();  // it leaves once only
    p.callers.pop_back();
    CHECK_FALSE(p.seats.is_full());
  }
}

}  // namespace http_places_test
