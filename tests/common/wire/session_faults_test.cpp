#include "tests/common/wire/dialogue.hpp"

using namespace binnacle;
using namespace binnacle::wire;
using namespace std::chrono_literals;
using agent_event = agent_session::event;
using aggregator_event = aggregator_session::event;
using test::dialogue;
using test::start;

TEST_SUITE("common/wire/session/faults") {
  TEST_CASE("a clock that nobody asked for, and one before the welcome, end the session") {
    dialogue d;
    bytes wrong;
    REQUIRE(append(wrong, clock_reading{1, 1}).has_value());
    SUBCASE("to the aggregator") {
      d.welcome_agent();
      d.aggregator.feed(wrong);
      CHECK(d.aggregator.next(d.now) == aggregator_event::ended);
      CHECK(d.aggregator.ended()->why == reason::unexpected_message);
    }
    SUBCASE("to an agent that is not welcomed") {
      REQUIRE(d.agent.start(test::plain_hello(), d.now).has_value());
      d.agent.feed(wrong);
      CHECK(d.agent.next(d.now) == agent_event::ended);
      CHECK(d.agent.ended()->why == reason::unexpected_message);
    }
  }

  TEST_CASE("an aggregator that asks for the time and takes no answer does not fill the agent's memory") {
    dialogue d;
    d.welcome_agent();
    bytes questions;
    for (int i = 0; i < 10'000; ++i) REQUIRE(append(questions, clock_reading{1, 0}).has_value());
    auto came = agent_event::nothing;
    for (int i = 0; i < 100 && came == agent_event::nothing; ++i) {
      d.agent.feed(questions);
      came = d.agent.next(d.now);
    }
    REQUIRE(came == agent_event::ended);
    CHECK(d.agent.ended()->why == reason::oversized);
    CHECK(d.agent.output_size() < 5 * max_frame_payload);
  }

  TEST_CASE("what comes out of turn ends the session by name") {
    dialogue d;
    bytes wrong;
    SUBCASE("a goodbye before hello") {
      REQUIRE(append(wrong, goodbye{}).has_value());
      d.aggregator.feed(wrong);
      CHECK(d.aggregator.next(d.now) == aggregator_event::ended);
      CHECK(d.aggregator.ended()->why == reason::not_hello);
    }
    SUBCASE("a catalog before hello") {
      REQUIRE(append(wrong, test::plain_catalog(1)).has_value());
      d.aggregator.feed(wrong);
      CHECK(d.aggregator.next(d.now) == aggregator_event::ended);
      CHECK(d.aggregator.ended()->why == reason::not_hello);
    }
    SUBCASE("a first frame larger than a hello may be") {
      wrong.resize(frame_header_size + max_first_frame + 1);
      finish_frame(wrong, 0, frame_kind::hello, flag_packed);
      d.aggregator.feed({wrong.data(), frame_header_size});
      CHECK(d.aggregator.next(d.now) == aggregator_event::ended);
      CHECK(d.aggregator.ended()->why == reason::oversized);
    }
    SUBCASE("a catalog before welcome") {
      REQUIRE(d.agent.start(test::plain_hello(), d.now).has_value());
      REQUIRE(d.aggregator_next() == aggregator_event::hello);
      REQUIRE(append(wrong, test::plain_catalog(1)).has_value());
      d.aggregator.feed(wrong);
      CHECK(d.aggregator.next(d.now) == aggregator_event::ended);
      CHECK(d.aggregator.ended()->why == reason::unexpected_message);
    }
    SUBCASE("a batch before the catalog") {
      d.welcome_agent();
      batch_encoder encoder;
      encoder.reset({});
      batch b;
      b.full = true;
      REQUIRE(encoder.append(wrong, b).has_value());
      d.aggregator.feed(wrong);
      CHECK(d.aggregator.next(d.now) == aggregator_event::ended);
      CHECK(d.aggregator.ended()->why == reason::unexpected_message);
    }
    SUBCASE("a welcome to an aggregator") {
      d.welcome_agent();
      REQUIRE(append(wrong, welcome{}).has_value());
      d.aggregator.feed(wrong);
      CHECK(d.aggregator.next(d.now) == aggregator_event::ended);
      CHECK(d.aggregator.ended()->why == reason::unexpected_message);
      CHECK(d.agent_next() == agent_event::ended);
      CHECK(d.agent.ended()->why == reason::unexpected_message);
    }
    SUBCASE("a welcome without a hello to an agent") {
      d.welcome_agent();
      REQUIRE(append(wrong, welcome{}).has_value());
      d.agent.feed(wrong);
      CHECK(d.agent.next(d.now) == agent_event::ended);
      CHECK(d.agent.ended()->why == reason::unexpected_message);
    }
    SUBCASE("an interest before welcome") {
      REQUIRE(d.agent.start(test::plain_hello(), d.now).has_value());
      REQUIRE(append(wrong, interest{}).has_value());
      d.agent.feed(wrong);
      CHECK(d.agent.next(d.now) == agent_event::ended);
      CHECK(d.agent.ended()->why == reason::unexpected_message);
    }
    SUBCASE("a hello to an agent") {
      d.welcome_agent();
      REQUIRE(append(wrong, test::plain_hello()).has_value());
      d.agent.feed(wrong);
      CHECK(d.agent.next(d.now) == agent_event::ended);
      CHECK(d.agent.ended()->why == reason::unexpected_message);
    }
  }

  TEST_CASE("a status or an interest that cannot be read costs itself, and what follows is read") {
    dialogue d;
    d.welcome_agent();
    bytes frames(frame_header_size + 64, std::byte{0xff});
    SUBCASE("status") {
      finish_frame(frames, 0, frame_kind::status, flag_packed);
      REQUIRE(append(frames, std::vector<source_status>{{"rapl", true, ""}}).has_value());
      d.aggregator.feed(frames);
      CHECK(d.aggregator.next(d.now) == aggregator_event::left_out);
      CHECK(d.aggregator.next(d.now) == aggregator_event::statuses);
      CHECK(d.aggregator.left_out().items == 1);
      CHECK(d.aggregator.left_out().last.why == reason::bad_message);
    }
    SUBCASE("interest") {
      finish_frame(frames, 0, frame_kind::interest, flag_packed);
      REQUIRE(append(frames, interest{{{"os_load1", 1000}}}).has_value());
      d.agent.feed(frames);
      CHECK(d.agent.next(d.now) == agent_event::interest);
      CHECK(d.agent.last_interest().wishes.size() == 1);
      CHECK(d.agent.left_out().items == 1);
    }
    SUBCASE("but not before the answer to a hello") {
      aggregator_session early(aggregator_session::settings{}, start);
      bytes greeting;
      REQUIRE(append(greeting, test::plain_hello()).has_value());
      early.feed(greeting);
      REQUIRE(early.next(start) == aggregator_event::hello);
      finish_frame(frames, 0, frame_kind::status, flag_packed);
      early.feed(frames);
      CHECK(early.next(start) == aggregator_event::ended);
      CHECK(early.ended()->why == reason::unexpected_message);
    }
  }

  TEST_CASE("a batch that goes back in time or leaves one out ends only its session") {
    dialogue d;
    d.welcome_agent();
    const catalog c = test::plain_catalog(2);
    d.announce(c);
    // A second encoder plays an agent that counts wrongly.
    batch_encoder encoder;
    encoder.reset(c);
    bytes frames;
    batch b;
    b.full = true;
    b.values = {{0, 1}, {1, 1}};
    b.sent_at_ns = 5'000'000'000;
    REQUIRE(encoder.append(frames, b).has_value());
    d.aggregator.feed(frames);
    REQUIRE(d.aggregator.next(d.now) == aggregator_event::batch);
    bytes ignored, last;
    reason expected{};
    SUBCASE("left out") {
      b.full = false;
      b.values.clear();
      REQUIRE(encoder.append(ignored, b).has_value());
      REQUIRE(encoder.append(last, b).has_value());
      expected = reason::sequence_gap;
    }
    SUBCASE("back in time") {
      batch_encoder other;
      other.reset(c);
      b.sent_at_ns -= 1'000;
      REQUIRE(other.append(ignored, b).has_value());
      REQUIRE(other.append(last, b).has_value());
      expected = reason::clock_backwards;
    }
    SUBCASE("another catalog") {
      encoder.reset(test::plain_catalog(2, 1, 7));
      REQUIRE(encoder.append(last, b).has_value());
      expected = reason::unknown_catalogue;
    }
    SUBCASE("a series it never announced") {
      batch_encoder other;
      other.reset(test::plain_catalog(3));
      b.values.push_back({2, 1});
      REQUIRE(other.append(ignored, b).has_value());
      REQUIRE(other.append(last, b).has_value());
      expected = reason::unknown_series;
    }
    d.aggregator.feed(last);
    CHECK(d.aggregator.next(d.now) == aggregator_event::ended);
    CHECK(d.aggregator.ended()->why == expected);
    CHECK(d.agent_next() == agent_event::ended);
    CHECK(d.agent.ended()->why == expected);
    CHECK(d.agent.next_deadline() == instant::max());
    CHECK(d.aggregator.next_deadline() == instant::max());
  }

  TEST_CASE("another major version is refused so that the peer can read it") {
    dialogue d;
    REQUIRE(d.agent.start(test::plain_hello(), d.now).has_value());
    bytes sent;
    d.agent.take_output(sent);
    sent[5] = std::byte{2};
    d.aggregator.feed(sent);
    CHECK(d.aggregator.next(d.now) == aggregator_event::ended);
    CHECK(d.aggregator.ended()->why == reason::wrong_version);
    CHECK(d.agent_next() == agent_event::ended);
    CHECK(d.agent.ended()->why == reason::wrong_version);
  }

  TEST_CASE("an agent reads the refusal of another major version, and nothing else of it") {
    agent_session agent(agent_session::settings{});
    REQUIRE(agent.start(test::plain_hello(), start).has_value());
    bytes answer;
    reason expected{};
    SUBCASE("refused") {
      REQUIRE(append(answer, refused{"overloaded: later", 700}).has_value());
      expected = reason::overloaded;
    }
    SUBCASE("welcome") {
      REQUIRE(append(answer, welcome{}).has_value());
      expected = reason::wrong_version;
    }
    answer[5] = std::byte{9};
    agent.feed(answer);
    CHECK(agent.next(start) == agent_event::ended);
    CHECK(agent.ended()->why == expected);
    CHECK(agent.retry_after() == (expected == reason::overloaded ? 700ms : 0ms));
  }

  TEST_CASE("a welcome or hello that says another major version ends the session") {
    SUBCASE("welcome") {
      agent_session agent(agent_session::settings{});
      REQUIRE(agent.start(test::plain_hello(), start).has_value());
      bytes answer;
      REQUIRE(append(answer, welcome{protocol_major + 1, 0, "r", 1, 0}).has_value());
      agent.feed(answer);
      CHECK(agent.next(start) == agent_event::ended);
      CHECK(agent.ended()->why == reason::wrong_version);
    }
    SUBCASE("hello") {
      aggregator_session aggregator(aggregator_session::settings{}, start);
      hello h = test::plain_hello();
      h.protocol_major = protocol_major + 1;
      bytes greeting;
      REQUIRE(append(greeting, h).has_value());
      aggregator.feed(greeting);
      CHECK(aggregator.next(start) == aggregator_event::ended);
      CHECK(aggregator.ended()->why == reason::wrong_version);
    }
  }
}
