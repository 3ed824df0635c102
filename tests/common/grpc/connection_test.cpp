// Dialogues with a server: recorded from real servers, or written by hand for servers that break the rules.
#include "common/grpc/connection.hpp"

#include "tests/common/grpc/frames.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

namespace {

using namespace binnacle;
using namespace binnacle::grpc::test;
using namespace std::chrono_literals;
using grpc::status;

grpc::connection::settings to_server() {
  grpc::connection::settings s;
  s.authority = "h:8001";
  s.user_agent = "test/1";
  return s;
}

grpc::call question(std::string text = "question") { return {"/a.B/C", std::move(text), 500ms}; }

/// A connection with a call that is under way.
struct dialogue {
  explicit dialogue(grpc::connection::settings s = to_server()) : it(std::move(s)) {
    it.begin(question());
    sent = std::exchange(it.outbox(), {});
  }
  dialogue& hears(std::string_view bytes) {
    it.feed(bytes);
    return *this;
  }
  result<grpc::answer> ends_with(std::string_view bytes) {
    it.feed(bytes);
    REQUIRE(it.done());
    return it.take();
  }
  std::string sent;
  grpc::connection it;
};

error refusal_of(std::string_view bytes, grpc::connection::settings s = to_server()) {
  dialogue d(std::move(s));
  const auto got = d.ends_with(bytes);
  REQUIRE(got.has_error());
  CHECK_MESSAGE(!d.it.usable(), "a connection that was broken off takes no more");
  return got.error();
}

grpc::answer answer_of(std::string_view bytes) {
  dialogue d;
  const auto got = d.ends_with(bytes);
  REQUIRE(got.has_value());
  return *got;
}

/// The bytes that grpcio 1.51 sent during one call: settings, window, acknowledgement, window, ping, headers,
/// data, trailers.
const std::string grpcio = bytes_of(
    "0000180400000000000004003fffff0005003fffff000600002000fe0300000001000004080000000000003f0000000000040100"
    "00"
    "000000000408000000000000000050000008060000000000000000000000000000004e01040000000188400c636f6e74656e742d"
    "74"
    "797065106170706c69636174696f6e2f677270634014677270632d6163636570742d656e636f64696e67176964656e746974792c"
    "20"
    "6465666c6174652c20677a697000003b00000000000100000000360a0870632d6d6f64656c1201312a270a077072656469637412"
    "04"
    "465036341a0202012a123a100000000000005e40000000000080614000000f010500000001400b677270632d737461747573"
    "0130");
/// Its bytes for a call about a model that it does not have: headers alone.
const std::string grpcio_refusal = bytes_of(
    "0000180400000000000004003fffff0005003fffff000600002000fe0300000001000004080000000000003f0000000000040100"
    "00"
    "00000000040800000000000000000800000806000000000000000000000000000000"
    "4f01050000000188400c636f6e74656e742d74797065106170706c69636174696f6e2f67727063400b677270632d7374617475"
    "730135000c677270632d6d657373616765114d6f64656c2070206e6f7420666f756e64");

TEST_SUITE("common/grpc/connection") {
  TEST_CASE("a call is a request of HTTP/2 with its message behind five bytes") {
    const dialogue d;
    CHECK(d.sent.starts_with("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    CHECK(d.sent.ends_with(frame(data, end_stream, 1, message("question"))));
    CHECK_FALSE(d.it.done());
  }

  TEST_CASE("a password goes as metadata, in each call anew, and into no table of HPACK") {
    grpc::connection it(to_server());
    auto with_password = question();
    with_password.authorization = "Basic dTpw";
    // The field's name is number 23 of HPACK's own table; 0x1f 0x08 says so, and that it is never indexed.
    const std::string never_indexed = "\x1f\x08";
    for (std::uint32_t stream = 1; stream <= 5; stream += 2) {
      it.begin(stream == 5 ? question() : with_password);
      CHECK((std::exchange(it.outbox(), {}).find(never_indexed) != std::string::npos) == (stream != 5));
      it.feed((stream == 1 ? greeting() : std::string()) + says("watts", stream));
      REQUIRE(it.done());
      CHECK(it.take().has_value());
    }
  }

  TEST_CASE("an answer as grpcio's server sent it") {
    dialogue d;
    const auto got = d.ends_with(grpcio);
    REQUIRE(got.has_value());
    CHECK(got->status == status::ok);
    CHECK(got->message.size() == 54);
    CHECK(got->message.starts_with("\x0a\x08pc-model"));
    CHECK(d.it.usable());
    CHECK_MESSAGE(d.it.outbox().find(frame(ping, ack, 0, std::string(8, '\0'))) != std::string::npos,
                  "its ping is answered");
  }

  TEST_CASE("a refusal in the headers alone, as grpcio's server sent it") {
    const auto got = answer_of(grpcio_refusal);
    CHECK(got.status == status::not_found);
    CHECK(got.said == "Model p not found");
  }

  TEST_CASE("however the bytes are split, the outcome is the same") {
    for (const std::string& whole : {grpcio, grpcio_refusal, greeting() + says("watts")}) {
      const auto expected = answer_of(whole);
      for (const std::size_t step : {1, 2, 3, 7, 64}) {
        CAPTURE(step);
        dialogue d;
        for (std::size_t i = 0; i < whole.size(); i += step) d.hears(std::string_view(whole).substr(i, step));
        REQUIRE(d.it.done());
        const auto got = d.it.take();
        REQUIRE(got.has_value());
        CHECK(got->message == expected.message);
        CHECK(got->status == expected.status);
      }
    }
  }

  TEST_CASE("an answer that ends in the middle is none, wherever it is cut") {
    for (std::size_t size = 0; size < grpcio.size(); ++size) {
      CAPTURE(size);
      dialogue d;
      d.hears(std::string_view(grpcio).substr(0, size));
      CHECK_FALSE(d.it.done());
      d.it.end();
      REQUIRE(d.it.done());
      const auto got = d.it.take();
      REQUIRE(got.has_error());
      CHECK(got.error().code == errc::disconnected);
      // Before the answer's headers nothing shows that the server took the call.
      CHECK(d.it.unseen() == (size + 3 <= grpcio.find("content-type")));
    }
  }

  TEST_CASE("call after call goes over one connection") {
    dialogue d;
    CHECK(d.ends_with(greeting() + says("one"))->message == "one");
    for (std::uint32_t stream = 3; stream < 21; stream += 2) {
      REQUIRE(d.it.usable());
      d.it.begin(question());
      CHECK_FALSE(d.it.usable());
      CHECK(d.it.outbox().ends_with(frame(data, end_stream, stream, message("question"))));
      // The server may have sent other frames meanwhile, for example a ping that keeps the connection open.
      const auto got =
          d.ends_with(frame(ping, none, 0, "12345678") + says("again " + std::to_string(stream), stream));
      CHECK(got->message == "again " + std::to_string(stream));
    }
  }

  TEST_CASE("an empty message is a message, and one in many pieces is one") {
    CHECK(answer_of(greeting() + says("")).status == status::ok);
    std::string pieces = greeting() + head();
    for (const char c : message("watts")) pieces += frame(data, none, 1, std::string(1, c));
    CHECK(answer_of(pieces + trailers()).message == "watts");
    CHECK(answer_of(greeting() + head(1, {{":status", "103"}}) + says("early hints")).message ==
          "early hints");
  }

  TEST_CASE("an answer that is no answer is told by gRPC's rules") {
    const auto status_of = [](std::string_view bytes) { return answer_of(greeting().append(bytes)).status; };
    const std::string whole = frame(data, none, 1, message("x"));
    CHECK(status_of(head() + whole + trailers(1, {{"grpc-status", "3"}})) == status::invalid_argument);
    CHECK_MESSAGE(status_of(head() + frame(data, end_stream, 1, message("x"))) == status::unknown,
                  "no status at all");
    CHECK(status_of(head() + whole + trailers(1, {{"grpc-status", "seven"}})) == status::unknown);
    CHECK(status_of(head() + whole + trailers(1, {{"grpc-status", "99"}})) == status::unknown);
    CHECK_MESSAGE(status_of(head() + trailers()) == status::internal, "no message");
    CHECK_MESSAGE(status_of(head() + whole + whole + trailers()) == status::internal, "two messages");
    CHECK_MESSAGE(status_of(head() + frame(data, none, 1, message("x", 1)) + trailers()) == status::internal,
                  "compressed");
    CHECK_MESSAGE(status_of(head() + frame(data, none, 1, message("watts").substr(0, 7)) + trailers()) ==
                      status::internal,
                  "cut");
    const fields page{{":status", "502"}, {"content-type", "text/html"}};
    CHECK_MESSAGE(status_of(head(1, page) + frame(data, end_stream, 1, "<html>")) == status::unavailable,
                  "a proxy's page");
    CHECK(status_of(trailers(1, {{":status", "404"}})) == status::unimplemented);
    const fields json{{":status", "200"}, {"content-type", "application/json"}};
    CHECK(
        dialogue().ends_with(greeting() + head(1, json) + frame(data, end_stream, 1, "{}")).error().message ==
        "it answers with \"application/json\", which is no gRPC");
  }

  TEST_CASE("a message of the status is decoded, and is bounded") {
    const auto said = [](const std::string& text) {
      return answer_of(greeting() + trailers(1, {{":status", "200"},
                                                 {"content-type", "application/grpc"},
                                                 {"grpc-status", "3"},
                                                 {"grpc-message", text}}))
          .said;
    };
    CHECK(said("at most 40 rows, 100%25 sure, %C3%A4") == "at most 40 rows, 100% sure, ä");
    CHECK(said("%") == "%");
    CHECK(said("%4") == "%4");
    CHECK(said("%zz %+1") == "%zz %+1");
    CHECK(said(std::string(10'000, 'x')).size() == 4096);
  }

  TEST_CASE("a server that resets a call says by its code what that means") {
    const auto reset = [](std::uint32_t code) {
      return answer_of(greeting() + frame(rst_stream, none, 1, big_endian(code)));
    };
    CHECK(reset(7).status == status::unavailable);
    CHECK(reset(8).status == status::cancelled);
    CHECK(reset(11).status == status::resource_exhausted);
    CHECK(reset(12).status == status::permission_denied);
    CHECK(reset(2).status == status::internal);
    CHECK(reset(2).said == "it reset the call (INTERNAL_ERROR)");
  }

  TEST_CASE("a server that is leaving finishes what it took, and what it did not may be asked elsewhere") {
    const auto leaves = [](std::uint32_t last, std::uint32_t code = 0) {
      return frame(goaway, none, 0, big_endian(last) + big_endian(code));
    };
    dialogue took;
    CHECK(took.ends_with(greeting() + leaves(1) + says("bye"))->message == "bye");
    CHECK_FALSE(took.it.usable());
    dialogue not_taken;
    const auto got = not_taken.ends_with(greeting() + leaves(0));
    REQUIRE(got.has_value());
    CHECK(got->status == status::unavailable);
    CHECK(not_taken.it.unseen());
    dialogue calm;
    calm.hears(greeting() + leaves(1, 11));
    calm.it.end();
    CHECK(calm.it.take().error().message == "it ended the connection (ENHANCE_YOUR_CALM)");
  }

  TEST_CASE("an answer that is not HTTP/2 is reported in words") {
    CHECK(refusal_of("HTTP/1.1 400 Bad Request\r\n\r\n").message.find("its REST API") != std::string::npos);
    CHECK(refusal_of(bytes_of("15030300020228")).message.find("grpcs") != std::string::npos);
    for (const std::string& noise :
         {std::string(100, '\0'), std::string("220 mail.example ESMTP\r\n"), frame(data, none, 1, "first"),
          greeting() + frame(data, none, 2, "another stream"),
          greeting() + frame(push_promise, end_headers, 1, big_endian(2)),
          greeting() + frame(settings, none, 0, "odd"),
          greeting() + frame(window_update, none, 0, big_endian(0)),
          greeting() + frame(headers, end_headers, 1, "\xff\xff\xff\xff\xff\xff")}) {
      CAPTURE(noise.size());
      const error why = refusal_of(noise);
      CHECK(why.code == errc::protocol);
      CHECK(why.message.starts_with("it does not keep to HTTP/2: "));
    }
  }

  TEST_CASE("an answer that breaks a rule of HTTP costs its connection nothing, and is an error") {
    for (const fields& bad : {fields{{":status", "200"}, {":status", "200"}}, fields{{"grpc-status", "0"}},
                              fields{{":status", "abc"}}, fields{{":status", "200"}, {":path", "/"}},
                              fields{{":status", "200"}, {"connection", "close"}}}) {
      CAPTURE(bad.front().second);
      dialogue d;
      const auto got = d.ends_with(greeting() + head(1, bad));
      REQUIRE(got.has_error());
      CHECK(got.error().code == errc::protocol);
    }
  }

  TEST_CASE("a flood of frames of any type ends the connection") {
    for (const std::string& drop : {frame(ping, none, 0, "12345678"), frame(settings, none, 0),
                                    frame(window_update, none, 0, big_endian(1)), frame(data, none, 1),
                                    frame(200, none, 0, "unknown")}) {
      CAPTURE(static_cast<int>(drop[3]));
      dialogue d;
      d.hears(greeting() + head());
      std::size_t sent = 0, most_held = 0;
      for (; sent < 200'000 && !d.it.done(); ++sent) {
        d.hears(drop);
        most_held = std::max(most_held, d.it.outbox().size());
      }
      REQUIRE(d.it.done());
      CHECK(d.it.take().error().code == errc::overloaded);
      CHECK(most_held < 64u << 10);
    }
  }

  TEST_CASE("headers beyond their bound end the connection, in whatever form they come") {
    const std::string long_value(5000, 'x');
    fields many = good_head;
    for (int i = 0; i < 4; ++i) many.emplace_back("x-" + std::to_string(i), long_value);
    // An HPACK bomb: each use of a table entry costs one byte on the wire, but 3000 bytes here.
    std::string bomb = block(good_head) + '\x40' + literal("x") + literal(std::string(3000, 'x'));
    bomb.append(1000, '\xbe');
    // The same amount in many small headers, each in a frame of its own.
    std::string split = frame(headers, none, 1, block(good_head));
    for (int i = 0; i < 600; ++i) split += frame(continuation, none, 1, block({{"x", "y"}}));
    for (const std::string& bad :
         {frame(headers, end_headers, 1, block(many)), frame(headers, end_headers, 1, bomb), split}) {
      dialogue d;
      const auto got = d.ends_with(greeting() + bad);
      REQUIRE(got.has_error());
      CHECK_FALSE(d.it.usable());
    }
    // The bound holds for headers and trailers together.
    const fields large{{"a", std::string(9000, 'x')}};
    fields first = good_head;
    first.insert(first.end(), large.begin(), large.end());
    CHECK(refusal_of(greeting() + head(1, first) + frame(data, none, 1, message("x")) + trailers(1, large))
              .code == errc::overloaded);
  }

  TEST_CASE("an answer beyond its bound is refused as soon as that is known") {
    auto small = to_server();
    small.most.message = 1000;
    const std::string announced = std::string(1, '\0') + big_endian(1001);
    CHECK(refusal_of(greeting() + head() + frame(data, none, 1, announced), small).code == errc::overloaded);
    CHECK(refusal_of(greeting() + head() + frame(data, none, 1, std::string(5, '\xff')), small).code ==
          errc::overloaded);
    dialogue exact(small);
    CHECK(exact.ends_with(greeting() + says(std::string(1000, 'w')))->message.size() == 1000);
    // The announced length is small, but more is sent.
    const std::string lie = message("x") + std::string(1005, 'x');
    CHECK(refusal_of(greeting() + head() + frame(data, none, 1, lie), small).code == errc::overloaded);
    // A page that is not gRPC is not kept. Only the bound of all bytes ends it.
    const fields page{{":status", "500"}, {"content-type", "text/html"}};
    dialogue d;
    d.hears(greeting() + head(1, page));
    for (int i = 0; i < 200 && !d.it.done(); ++i) d.hears(frame(data, none, 1, std::string(16'384, 'x')));
    REQUIRE(d.it.done());
    CHECK(d.it.take().error().code != errc::timeout);
  }

  TEST_CASE("a server that takes no bytes may answer nevertheless, and its connection is not used again") {
    // The server's settings: an initial window of 0.
    grpc::connection slow(to_server());
    slow.begin(question());
    slow.feed(frame(settings, none, 0, big_endian(4, 2) + big_endian(0)));
    slow.feed(frame(settings, ack, 0) + says("first"));
    REQUIRE(slow.done());
    CHECK(slow.take()->message == "first");
    // The second question finds the window closed. It is sent when the window opens.
    REQUIRE(slow.usable());
    slow.outbox().clear();
    slow.begin(question());
    CHECK(slow.outbox().find("question") == std::string::npos);
    slow.feed(frame(window_update, none, 3, big_endian(100)));
    CHECK(slow.outbox().ends_with(frame(data, end_stream, 3, message("question"))));
    slow.feed(says("second", 3));
    CHECK(slow.take()->message == "second");
    slow.begin(question());
    slow.feed(trailers(5, {{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "8"}}));
    REQUIRE(slow.done());
    CHECK(slow.take()->status == status::resource_exhausted);
    CHECK_FALSE(slow.usable());
  }
}

}  // namespace
